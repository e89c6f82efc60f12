//! Phase 2: the first layer, position by position.

use serde_json::json;

use crate::pipeline::answer::Exhibit;
use crate::pipeline::case::Case;
use crate::pipeline::evidence::{Activations, Score};
use crate::pipeline::gate::Judgement;
use crate::pipeline::metric::{Bound, hard, recorded};

pub(super) fn block(case: &Case) -> Judgement {
    let layers = match case.layers() {
        Ok(layers) => layers.block(),
        Err(why) => return Judgement::failed(why),
    };
    let head_dim = case.sources().deployment.model().map_or(64, |model| model.config.head_dim);
    let least = match head_dim {
        0..=64 => 0.99,
        65..=128 => 0.98,
        _ => 0.97,
    };
    let scores = layers.scores();
    let mut judgement = Judgement { cases: layers.positions(), ..Judgement::default() };
    for score in &scores {
        judgement.metrics = vec![
            hard("cosine", score.cosine, case.at_least("block", "cosine", 0.99)),
            hard("cosine_min_pos", score.least, case.at_least("block", "cosine_min_pos", least)),
            hard("norm_ratio", score.norm_ratio, Bound::Within(0.9, 1.1)),
            hard(
                "r_ratio",
                score.ratio,
                Bound::Within(
                    case.limit("block", "r_ratio_min", 0.7),
                    case.limit("block", "r_ratio_max", 1.5),
                ),
            ),
            hard("sink_error", score.sink_error, case.at_most("block", "sink_error", 0.6)),
            hard("non_finite", score.non_finite as f64, Bound::Exactly(0.0)),
            recorded("cosine_median", score.median),
            recorded("sinks", score.sinks.len() as f64),
        ];
        judgement.headline = format!(
            "layer 0: cosine {:.6}, least position {:.6}, R {:.2} over {} positions",
            score.cosine,
            score.least,
            score.ratio,
            layers.positions()
        );
    }
    if judgement.headline.is_empty() {
        judgement.headline = "no layer was judged".into();
    }
    judgement.exhibits.push(curves(&layers, &scores));
    judgement
}

/// Curves by layer, and the worst positions with their worst elements.
pub(super) fn curves(layers: &Activations, scores: &[Score]) -> Exhibit {
    let rows = scores.iter().map(|score| {
        json!({
            "layer": score.index,
            "cosine": score.cosine,
            "cosine_median": score.median,
            "cosine_p5": score.fifth,
            "cosine_min": score.least,
            "norm_ratio": score.norm_ratio,
            "r_ratio": score.ratio,
            "keys": score.keys,
            "values": score.values,
            "sinks": score.sinks,
            "sink_error": score.sink_error,
            "worst_positions": score.worst,
        })
    });
    let worst = layers.worst_elements(scores);
    let content = json!({ "layers": rows.collect::<Vec<_>>(), "worst_elements": worst });
    let headline = format!("{} layers, {} positions", scores.len(), layers.positions());
    Exhibit::new("layers", headline, content.to_string())
}
