//! Standard errors of fitted values.

use super::Residuals;

/// Standard errors from the derivatives of the residuals, whose groups are independent of each other. Residuals of a known variance have the same
/// error in all of a group, which is the least that they can tell; else three or more groups tell how dependent the residuals of
/// a group are (K.-Y. Liang and S. L. Zeger, 1986), and residuals of fewer are taken as independent.
pub(super) fn standard_errors(derivatives: &[Vec<f64>], residuals: &Residuals) -> Vec<f64> {
    let count = derivatives.len();
    let normal: Vec<Vec<f64>> =
        derivatives.iter().map(|a| derivatives.iter().map(|b| product(a, b)).collect()).collect();
    let Some(inverse) = inverse(normal) else { return vec![f64::NAN; count] };
    let freedom = residuals.count - count as f64;
    let misfit = residuals.sum_of_squares() / freedom;
    let groups = residuals.groups.len();
    let scores = |of: &dyn Fn(&[f64], &[f64]) -> f64| {
        let mut middle = vec![vec![0.0; count]; count];
        let mut first = 0;
        for group in &residuals.groups {
            let range = first..first + group.len();
            first = range.end;
            let score: Vec<f64> =
                derivatives.iter().map(|all| of(&all[range.clone()], group)).collect();
            for (row, a) in middle.iter_mut().zip(&score) {
                row.iter_mut().zip(&score).for_each(|(cell, b)| *cell += a * b);
            }
        }
        times(&times(&inverse, &middle), &inverse)
    };
    let diagonal = |matrix: &[Vec<f64>], factor: f64| -> Vec<f64> {
        (0..count).map(|i| factor * matrix[i][i]).collect()
    };
    let covariance = match residuals.variance {
        _ if freedom <= 0.0 => vec![f64::NAN; count],
        Some(variance) => diagonal(&scores(&|of, _| of.iter().sum()), variance.max(misfit)),
        None if groups >= 3 => diagonal(&scores(&product), groups as f64 / (groups as f64 - 1.0)),
        None => diagonal(&inverse, misfit),
    };
    covariance.into_iter().map(f64::sqrt).collect()
}

fn times(a: &[Vec<f64>], b: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let cell = |row: &Vec<f64>, j: usize| row.iter().zip(b).map(|(x, of)| x * of[j]).sum();
    a.iter().map(|row| (0..b.len()).map(|j| cell(row, j)).collect()).collect()
}

/// The sum of the products of two rows.
pub(super) fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The inverse of a symmetric matrix, by elimination; `None` if it has none.
pub(super) fn inverse(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let count = matrix.len();
    // By its diagonal, as parameters have different units.
    let scales: Vec<f64> = (0..count).map(|i| matrix[i][i].sqrt()).collect();
    if !scales.iter().all(|scale| *scale > 0.0) {
        return None;
    }
    for (i, row) in matrix.iter_mut().enumerate() {
        row.iter_mut().enumerate().for_each(|(j, cell)| *cell /= scales[i] * scales[j]);
        row.extend((0..count).map(|j| f64::from(u8::from(i == j))));
    }
    for i in 0..count {
        let pivot =
            (i..count).max_by(|a, b| matrix[*a][i].abs().total_cmp(&matrix[*b][i].abs()))?;
        matrix.swap(i, pivot);
        let divisor = matrix[i][i];
        if divisor.abs() < 1e-12 {
            return None;
        }
        matrix[i].iter_mut().for_each(|cell| *cell /= divisor);
        let own = matrix[i].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = row[i];
            row.iter_mut().zip(&own).for_each(|(cell, of)| *cell -= factor * of);
        }
    }
    let unscaled = |(i, row): (usize, Vec<f64>)| {
        row[count..].iter().enumerate().map(|(j, cell)| cell / (scales[i] * scales[j])).collect()
    };
    Some(matrix.into_iter().enumerate().map(unscaled).collect())
}
