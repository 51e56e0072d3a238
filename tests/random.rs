//! Random models: every valid skinned model bakes, and its positions and normals are those of the reference in
//! `support/random.rs`.

mod support;

use proptest::prelude::*;
use support::bake_fixture;
use support::decode::V3;
use support::random::{M4, Model, RATE, blend, compose, document, model, multiply, normal, palette, transform};
use vatbake::options::{Format, Fps};

/// The last key over the channels that have several keys and move a vertex (a joint that has weight, or one above it).
fn end(model: &Model) -> Option<f64> {
    let mut moving = vec![false; model.joints.len()];
    model.vertices.iter().flat_map(|v| &v.influences).filter(|i| i.1 > 0.0).for_each(|i| moving[i.0] = true);
    for (j, joint) in model.joints.iter().enumerate().rev() {
        if let Some(parent) = joint.parent.filter(|_| moving[j]) {
            moving[parent] = true;
        }
    }
    model.channels.iter().filter(|c| moving[c.joint] && c.times.len() > 1).filter_map(|c| c.times.last()).copied().reduce(f64::max)
}

fn check(model: &Model, format: Format) -> Result<(), TestCaseError> {
    let baked = bake_fixture(&document(model), |o| (o.format, o.fps, o.exact_fps) = (format, Fps::Rate(RATE), true));
    prop_assert_eq!(baked.vertex_count, model.vertices.len());
    if let Some(end) = end(model) {
        prop_assert_eq!(baked.frame_count, (end * RATE + 1e-3).floor() as usize + 1);
    }
    let frames: Vec<Vec<M4>> = (0..baked.frame_count).map(|k| palette(model, k as f64 / RATE)).collect();
    // What f32 can hold of sums of products of this size.
    let largest = frames.iter().flatten().flatten().fold(1.0, |most: f64, v| most.max(v.abs()));
    let tolerance: V3 = std::array::from_fn(|c| baked.half_step(c) + 2e-6 * largest);
    for (k, matrices) in frames.iter().enumerate() {
        for (i, vertex) in model.vertices.iter().enumerate() {
            let m = blend(matrices, vertex);
            let (found, wanted) = (baked.position(k, i), transform(&m, vertex.position));
            let near = (0..3).all(|c| (found[c] - wanted[c]).abs() <= tolerance[c]);
            prop_assert!(near, "frame {k}, vertex {i}: {found:?}, wanted {wanted:?} within {tolerance:?}");
            if let Some(wanted) = normal(&m, vertex.normal) {
                let found = baked.normal(k, i);
                let dot: f64 = (0..3).map(|c| found[c] * wanted[c]).sum();
                prop_assert!(dot > 0.999_99, "frame {k}, vertex {i}: normal {found:?}, wanted {wanted:?}");
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_random_skinned_model_bakes_to_the_reference_in_png(model in model()) {
        check(&model, Format::Png16)?;
    }

    #[test]
    fn a_random_skinned_model_bakes_to_the_reference_in_exr(model in model()) {
        check(&model, Format::Exr32)?;
    }
}

#[test]
fn the_reference_agrees_with_paper() {
    let s = std::f64::consts::FRAC_1_SQRT_2;
    let turned = compose([5.0, 0.0, 0.0], [0.0, 0.0, s, s], [2.0, 1.0, 1.0]);
    let near = |a: V3, b: V3| (0..3).all(|c| (a[c] - b[c]).abs() < 1e-12);
    assert!(near(transform(&turned, [1.0, 0.0, 0.0]), [5.0, 2.0, 0.0]));
    assert!(near(transform(&multiply(&turned, &turned), [1.0, 0.0, 0.0]), [3.0, 10.0, 0.0]));
    let tall = compose([0.0; 3], [0.0, 0.0, 0.0, 1.0], [1.0, 4.0, 1.0]);
    assert!(near(normal(&tall, [s, s, 0.0]).expect("volume"), [4.0 / 17.0_f64.sqrt(), 1.0 / 17.0_f64.sqrt(), 0.0]));
}
