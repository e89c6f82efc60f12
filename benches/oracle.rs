//! Speed of the FP32 oracle beside the machine's own GEMM.

fn main() {}
