//! Where the time goes: a table by kernel, four categories that add up, and a timeline.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::base::Sample;
use crate::model::Stage;

use super::program::{HostOp, Program, Scope};

/// Microseconds by category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Calls of the array and set-up of launches.
    pub dispatch: f64,
    /// Copies between host and array.
    pub upload: f64,
    /// Work on the tiles.
    pub tile: f64,
    /// Operators on the host.
    pub host: f64,
}

impl Cost {
    pub fn total(&self) -> f64 {
        self.dispatch + self.upload + self.tile + self.host
    }

    fn add(&mut self, other: &Self, times: f64) {
        self.dispatch += other.dispatch * times;
        self.upload += other.upload * times;
        self.tile += other.tile * times;
        self.host += other.host * times;
    }

    /// What is saved by going from here to `after`; negative where it costs more.
    pub fn minus(&self, after: &Self) -> Self {
        Self {
            dispatch: self.dispatch - after.dispatch,
            upload: self.upload - after.upload,
            tile: self.tile - after.tile,
            host: self.host - after.host,
        }
    }

    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = *self;
        sum.add(other, 1.0);
        sum
    }

    pub fn categories(&self) -> [(&'static str, f64); 4] {
        [
            ("dispatch", self.dispatch),
            ("upload", self.upload),
            ("tile", self.tile),
            ("host", self.host),
        ]
    }
}

impl Cost {
    /// Total and categories in hundredths of a millisecond, rounded so that the parts that a
    /// person sees add up to the total that they see.
    pub fn hundredths(&self) -> (i64, [(&'static str, i64); 4]) {
        let total = (self.total() / 10.0).round() as i64;
        let exact = self.categories().map(|(name, us)| (name, us / 10.0));
        let mut parts = exact.map(|(name, part)| (name, part.floor() as i64));
        let left = total - parts.iter().map(|(_, part)| part).sum::<i64>();
        // What rounding down left over goes to the largest rests.
        let rest = |at: &usize| exact[*at].1 - exact[*at].1.floor();
        let mut order = [0, 1, 2, 3];
        order.sort_by(|a, b| rest(b).total_cmp(&rest(a)));
        for at in order.into_iter().take(usize::try_from(left).unwrap_or(0)) {
            parts[at].1 += 1;
        }
        (total, parts)
    }
}

/// `12.34 ms = dispatch 3.00 + upload 2.10 + tile 7.24 + host 0.00`; of a difference, what is saved.
impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |hundredths: i64| hundredths as f64 / 100.0;
        let (total, parts) = self.hundredths();
        write!(f, "{:.2} ms = ", ms(total))?;
        for (at, (name, part)) in parts.into_iter().enumerate() {
            let sign = match (at, part < 0) {
                (0, false) => "",
                (0, true) => "−",
                (_, false) => " + ",
                (_, true) => " − ",
            };
            let amount = ms(part.abs());
            if at == 0 {
                write!(f, "{name} {sign}{amount:.2}")?;
            } else {
                write!(f, "{sign}{name} {amount:.2}")?;
            }
        }
        Ok(())
    }
}

/// One kernel or host operator of one dispatch, or of all of them in a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelTime {
    pub kernel: String,
    /// The buffer that it makes.
    pub makes: String,
    pub on_array: bool,
    pub calls: usize,
    pub setup_us: f64,
    pub work_us: f64,
    pub flops: f64,
    pub bytes: f64,
}

impl KernelTime {
    pub(super) fn host(op: &HostOp, us: f64) -> Self {
        let name = serde_json::to_value(op.op).ok();
        Self {
            kernel: name.and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default(),
            makes: op.outputs.first().cloned().unwrap_or_default(),
            on_array: false,
            calls: 1,
            setup_us: 0.0,
            work_us: us,
            flops: 0.0,
            bytes: 0.0,
        }
    }

    pub fn total_us(&self) -> f64 {
        self.setup_us + self.work_us
    }

    /// Achieved while it works.
    pub fn gflops(&self) -> f64 {
        if self.work_us > 0.0 { self.flops / self.work_us / 1e3 } else { 0.0 }
    }

    pub fn gigabytes_per_s(&self) -> f64 {
        if self.work_us > 0.0 { self.bytes / self.work_us / 1e3 } else { 0.0 }
    }
}

/// One dispatch, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DispatchTime {
    pub name: String,
    pub scope: Scope,
    pub cost: Cost,
    pub write_us: f64,
    pub read_us: f64,
    /// Bytes copied to and from the array.
    pub uploaded: usize,
    pub kernels: Vec<KernelTime>,
}

/// Where the time of one call of a program goes. Predicted on a model of the device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Profile {
    pub stage: Stage,
    pub model: String,
    pub layers: usize,
    pub seq: usize,
    pub context: usize,
    /// Of the whole call, all layers included.
    pub cost: Cost,
    pub dispatches_per_layer: usize,
    /// Host calls of the whole program, host operators included.
    pub dispatches: usize,
    pub launches: usize,
    /// Bytes copied between host and array, and least bytes that the launches move.
    pub upload_bytes: f64,
    pub dram_bytes: f64,
    /// Dispatches in order, each once.
    pub steps: Vec<DispatchTime>,
    /// By kernel over the whole call, most time first.
    pub kernels: Vec<KernelTime>,
    /// Mean error of the prediction over published rows, in percent.
    pub calibration_error_pct: f64,
}

impl Profile {
    pub(super) fn empty(program: &Program, context: usize) -> Self {
        Self {
            stage: program.stage,
            model: program.model.clone(),
            layers: program.layers,
            seq: program.seq,
            context,
            cost: Cost::default(),
            dispatches_per_layer: program.dispatches_per_layer(),
            dispatches: 0,
            launches: 0,
            upload_bytes: 0.0,
            dram_bytes: 0.0,
            steps: Vec::new(),
            kernels: Vec::new(),
            calibration_error_pct: super::array::CALIBRATION_ERROR_PCT,
        }
    }

    pub(super) fn push(&mut self, step: DispatchTime) {
        self.steps.push(step);
    }

    /// Sums the steps, those of a layer once for each layer.
    pub(super) fn finish(&mut self) {
        for step in &self.steps {
            let times = self.times(step.scope);
            let count = times as f64;
            self.cost.add(&step.cost, count);
            self.dispatches = self.dispatches.saturating_add(times);
            self.upload_bytes += step.uploaded as f64 * count;
            for kernel in &step.kernels {
                let launches = if kernel.on_array { times } else { 0 };
                self.launches = self.launches.saturating_add(launches);
                self.dram_bytes += kernel.bytes * count;
                let same = |row: &&mut KernelTime| {
                    row.kernel == kernel.kernel && row.on_array == kernel.on_array
                };
                if let Some(row) = self.kernels.iter_mut().find(same) {
                    row.calls = row.calls.saturating_add(times);
                    row.setup_us += kernel.setup_us * count;
                    row.work_us += kernel.work_us * count;
                    row.flops += kernel.flops * count;
                    row.bytes += kernel.bytes * count;
                } else {
                    self.kernels.push(KernelTime {
                        makes: String::new(),
                        calls: times,
                        setup_us: kernel.setup_us * count,
                        work_us: kernel.work_us * count,
                        flops: kernel.flops * count,
                        bytes: kernel.bytes * count,
                        ..kernel.clone()
                    });
                }
            }
        }
        self.kernels.sort_by(|a, b| {
            b.total_us().total_cmp(&a.total_us()).then_with(|| a.kernel.cmp(&b.kernel))
        });
    }

    pub fn total_us(&self) -> f64 {
        self.cost.total()
    }

    /// How often a dispatch of this scope runs in one call.
    pub fn times(&self, scope: Scope) -> usize {
        match scope {
            Scope::Layer => self.layers,
            Scope::Model => 1,
        }
    }

    /// The call as bars on three lanes (`npu`, `host`, `upload`), at most `layers` layers of it.
    pub fn timeline(&self, layers: usize) -> Vec<Sample> {
        let mut line = Timeline::default();
        let first = self.steps.iter().position(|step| step.scope == Scope::Layer);
        let last = self.steps.iter().rposition(|step| step.scope == Scope::Layer);
        let (first, end) = match (first, last) {
            (Some(first), Some(last)) => (first, last + 1),
            _ => (self.steps.len(), self.steps.len()),
        };
        self.steps[..first].iter().for_each(|step| line.step(step));
        for _ in 0..layers.min(self.layers) {
            self.steps[first..end].iter().for_each(|step| line.step(step));
        }
        self.steps[end..].iter().for_each(|step| line.step(step));
        line.samples
    }
}

#[derive(Default)]
struct Timeline {
    samples: Vec<Sample>,
    now_ns: f64,
}

impl Timeline {
    fn step(&mut self, step: &DispatchTime) {
        self.bar("upload", &format!("write {}", step.name), step.write_us);
        let launches: f64 = step.kernels.iter().map(KernelTime::total_us).sum();
        let lane = if step.cost.host > 0.0 { "host" } else { "npu" };
        if lane == "npu" {
            let call = (step.cost.dispatch + step.cost.tile - launches).max(0.0);
            self.bar("host", &format!("call {}", step.name), call);
        }
        for kernel in &step.kernels {
            self.bar(lane, &format!("{} {}", kernel.kernel, kernel.makes), kernel.total_us());
        }
        self.bar("upload", &format!("read {}", step.name), step.read_us);
    }

    fn bar(&mut self, lane: &str, name: &str, us: f64) {
        if us <= 0.0 {
            return;
        }
        let len = us * 1e3;
        self.samples.push(Sample {
            lane: lane.to_owned(),
            name: name.to_owned(),
            start_ns: self.now_ns as u64,
            len_ns: len as u64,
        });
        self.now_ns += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_parts_add_up_to_what_is_shown() {
        let check = |[dispatch, upload, tile, host]: [f64; 4], expected: &str| {
            let cost = Cost { dispatch, upload, tile, host };
            let (total, parts) = cost.hundredths();
            assert_eq!(parts.iter().map(|(_, part)| part).sum::<i64>(), total);
            assert_eq!(cost.to_string(), expected);
        };
        check([0.0; 4], "0.00 ms = dispatch 0.00 + upload 0.00 + tile 0.00 + host 0.00");
        check([4.0; 4], "0.02 ms = dispatch 0.01 + upload 0.01 + tile 0.00 + host 0.00");
        check(
            [1007.0, 2006.0, 3003.0, -1009.0],
            "5.01 ms = dispatch 1.01 + upload 2.01 + tile 3.00 − host 1.01",
        );
        check(
            [-16.0, 0.0, 0.0, 0.0],
            "-0.02 ms = dispatch −0.02 + upload 0.00 + tile 0.00 + host 0.00",
        );
    }
}
