//! Time of the streaming kernels: cycles an element, and a row where a kernel works on rows.

use crate::npu::array::{Array, Coefficients};
use crate::npu::program::Kernel;

/// Elements, rows, and the cycles of each.
struct Stream {
    elements: f64,
    rows: f64,
    element: f64,
    row: f64,
}

/// Microseconds of work on `tiles` cores; 0 for kernels that do not stream.
pub(super) fn work_us(kernel: &Kernel, tiles: f64, array: &Array) -> f64 {
    let Some(stream) = stream(kernel, &array.coefficients) else { return 0.0 };
    let cycles = stream.elements * stream.element + stream.rows * stream.row;
    cycles / tiles / array.coefficients.cycles_per_us
}

fn stream(kernel: &Kernel, c: &Coefficients) -> Option<Stream> {
    let flat = |elements: usize, element: f64| Stream {
        elements: elements as f64,
        rows: 0.0,
        element,
        row: 0.0,
    };
    let rows = |rows: usize, width: usize, element: f64, row: f64| Stream {
        elements: rows as f64 * width as f64,
        rows: rows as f64,
        element,
        row,
    };
    Some(match *kernel {
        Kernel::RmsNorm { rows: r, width } => rows(r, width, c.rms_norm, c.rms_norm_row),
        Kernel::LayerNorm { rows: r, width } => rows(r, width, c.layer_norm, 0.0),
        Kernel::Rope { rows: r, width } => rows(r, width, c.rope, c.rope_row),
        Kernel::BiasAdd { rows: r, width } => rows(r, width, c.add, 0.0),
        Kernel::SiluMul { elements } => flat(elements, c.silu_mul),
        Kernel::Gelu { elements } => flat(elements, c.gelu),
        Kernel::Add { elements } => flat(elements, c.add),
        Kernel::Cast { elements } => flat(elements, c.cast),
        Kernel::Gemm { .. } | Kernel::Gemv { .. } | Kernel::FlashAttention { .. } => return None,
    })
}
