//! Time of a whole program: every dispatch in order, each split into the four categories.

use crate::npu::array::Array;
use crate::npu::profile::{Cost, DispatchTime, KernelTime, Profile};
use crate::npu::program::{Dispatch, Launch, Program, Work};

use super::host::operator_us;
use super::launch::{Inside, inside};
use super::upload::{read_back, read_us, write_us, written};

/// Predicts one call of the program, in microseconds. `context` is the number of tokens that a
/// decode call attends to. The parts of the profile add up to its total exactly.
pub fn cost(program: &Program, array: &Array, context: usize) -> Profile {
    let mut profile = Profile::empty(program, context);
    for dispatch in &program.dispatches {
        let time = timed(dispatch, program, context, array);
        profile.push(time);
    }
    profile.finish();
    profile
}

fn timed(dispatch: &Dispatch, program: &Program, context: usize, array: &Array) -> DispatchTime {
    let mut time = DispatchTime {
        name: dispatch.name.clone(),
        scope: dispatch.scope,
        cost: Cost::default(),
        write_us: 0.0,
        read_us: 0.0,
        uploaded: 0,
        kernels: Vec::new(),
    };
    match &dispatch.work {
        Work::Host(op) => {
            let us = operator_us(op, program, context, array);
            time.cost.host = us;
            time.kernels.push(KernelTime::host(op, us));
        }
        Work::Launches(launches) => {
            let (to, from) = (written(launches, program), read_back(launches, program));
            time.uploaded = to.saturating_add(from);
            time.write_us = write_us(to, array);
            time.read_us = read_us(from, array);
            time.cost.upload = time.write_us + time.read_us;
            time.cost.dispatch = array.coefficients.dispatch_us + array.host.call_us;
            for launch in launches {
                let Inside { setup, work } = inside(launch, array);
                time.cost.dispatch += setup;
                time.cost.tile += work;
                time.kernels.push(kernel(launch, setup, work));
            }
        }
    }
    time
}

fn kernel(launch: &Launch, setup_us: f64, work_us: f64) -> KernelTime {
    KernelTime {
        kernel: launch.kernel.name().to_owned(),
        makes: launch.outputs.first().cloned().unwrap_or_default(),
        on_array: true,
        calls: 1,
        setup_us,
        work_us,
        flops: launch.kernel.flops(),
        bytes: launch.kernel.least_bytes(),
    }
}
