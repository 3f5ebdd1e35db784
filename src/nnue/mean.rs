//! [`mean`]: the average of several networks.

use super::network::Network;
use crate::support::memory::OutOfMemory;

/// Why networks cannot be averaged.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum MeanError {
    #[error("a network of {0} and one of {1} have no mean")]
    Shapes(String, String),
    #[error("networks of FV_SCALE {0} and {1} have no mean")]
    Scales(i32, i32),
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
}

/// The network with the rounded means of the parameters of all `networks`.
///
/// Networks trained from the same start with other seeds, rates or games differ mostly in what they have
/// overfitted, and their mean is stronger than each of them (Wortsman et al., "Model soups", 2022). The mean
/// of networks from different starts is useless.
///
/// # Errors
/// Networks of different shapes or scales, or no memory for another one.
///
/// # Panics
/// If there is no network.
pub fn mean(networks: &[Network]) -> Result<Network, MeanError> {
    let first = &networks[0];
    for other in networks {
        if other.shape() != first.shape() {
            return Err(MeanError::Shapes(first.name(), other.name()));
        }
        if other.fv_scale() != first.fv_scale() {
            return Err(MeanError::Scales(first.fv_scale(), other.fv_scale()));
        }
    }
    let all: Vec<_> = networks.iter().map(Network::parameters).collect();
    let rounded = |sum: i64| (sum as f64 / networks.len() as f64).round_ties_even() as i32;
    let mut mean = first.architecture().zeroed()?;
    let mut sums = vec![0i64; first.shape().l1];
    let mut mean_row = |rows: &mut dyn Iterator<Item = &[i16]>, out: &mut [i16]| {
        sums.fill(0);
        rows.for_each(|row| sums.iter_mut().zip(row).for_each(|(s, &w)| *s += i64::from(w)));
        out.iter_mut().zip(&sums).for_each(|(o, &s)| *o = rounded(s) as i16);
    };
    mean_row(&mut all.iter().map(|p| p.bias()), mean.bias_mut());
    for input in 0..first.shape().inputs.count() {
        mean_row(&mut all.iter().map(|p| p.row(input)), mean.row_mut(input));
    }
    if let Some(progress) = mean.progress_mut() {
        let all: Vec<_> = all.iter().filter_map(|p| p.progress()).collect();
        progress.bias = rounded(all.iter().map(|p| i64::from(p.bias)).sum());
        for (i, weight) in progress.weights.iter_mut().enumerate() {
            *weight = rounded(all.iter().map(|p| i64::from(p.weights[i])).sum());
        }
    }
    let all: Vec<Vec<_>> = all.iter().map(|p| p.layers()).collect();
    for (i, layer) in mean.layers_mut().into_iter().enumerate() {
        let all: Vec<_> = all.iter().map(|layers| layers[i]).collect();
        for (output, bias) in layer.bias_mut().iter_mut().enumerate() {
            *bias = rounded(all.iter().map(|l| i64::from(l.bias()[output])).sum());
        }
        for output in 0..layer.bias().len() {
            for input in 0..layer.inputs() {
                let sum = all.iter().map(|l| i64::from(l.weight(output, input))).sum();
                layer.set_weight(output, input, rounded(sum) as i16);
            }
        }
    }
    Ok(Network::new(mean, first.origin().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Architecture;

    fn psq(scale: i16, fv_scale: &str) -> Network {
        let mut p = "psq_256x2-screlu-8b".parse::<Architecture>().unwrap().zeroed().unwrap();
        p.bias_mut()[3] = -scale;
        p.row_mut(7)[255] = 1000 * scale;
        p.layers_mut()[0].bias_mut()[7] = 100_000 * i32::from(scale);
        p.layers_mut()[0].set_weight(6, 511, -scale);
        Network::new(p, fv_scale.to_owned())
    }

    #[test]
    fn every_number_is_the_mean_of_its_likes() {
        let of = |scales: &[i16]| {
            let m = mean(&scales.iter().map(|&s| psq(s, "fv_scale=20")).collect::<Vec<_>>()).unwrap();
            assert_eq!(m.fv_scale(), 20);
            let (p, layer) = (m.parameters(), m.parameters().layers()[0]);
            assert!(p.row(8).iter().all(|&w| w == 0) && layer.weight(6, 510) == 0);
            (p.bias()[3], p.row(7)[255], layer.bias()[7], layer.weight(6, 511))
        };
        assert_eq!(of(&[5]), (-5, 5000, 500_000, -5));
        assert_eq!(of(&[1, 2, 12]), (-5, 5000, 500_000, -5));
        // sums beyond i16, and ties to even
        assert_eq!(of(&[30, 31]), (-30, 30500, 3_050_000, -30));
        assert_eq!(of(&[1, 1, 3]), (-2, 1667, 166_667, -2));
    }

    #[test]
    fn other_shapes_and_scales_have_none() {
        let kp = "kp_256x2-32-32".parse::<Architecture>().unwrap().zeroed().unwrap();
        let error = |other| mean(&[psq(1, ""), psq(2, ""), other]).err().unwrap().to_string();
        let text = error(Network::new(kp, String::new()));
        assert!(text.contains("K-P 256x2-SCReLU-1x8 and one of K-P 256x2-32-32-1"), "{text}");
        assert!(error(psq(1, "fv_scale=20")).contains("16 and 20"));
    }
}
