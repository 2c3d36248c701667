//! Faces of a mesh in triangles.

/// The corners of triangles, counter-clockwise, that divide a polygon at one of its corners; `None` if there is no
/// such corner, or it has fewer than three.
pub(super) fn divide(mut corners: Vec<[f64; 2]>) -> Option<Vec<[usize; 3]>> {
    let count = corners.len();
    let is_clockwise =
        (1..count.saturating_sub(1)).map(|k| area(&corners, [0, k, k + 1])).sum::<f64>() < 0.0;
    let number = |k: usize| if is_clockwise { count - 1 - k } else { k };
    if is_clockwise {
        corners.reverse();
    }
    let fan = |apex: usize| -> Vec<[usize; 3]> {
        (1..count - 1).map(|k| [apex, (apex + k) % count, (apex + k + 1) % count]).collect()
    };
    let found = match count {
        0..3 => None,
        3 => Some(fan(0)),
        _ => (0..count)
            .map(fan)
            .find(|fan| fan.iter().all(|triangle| area(&corners, *triangle) > 0.0)),
    };
    found.map(|triangles| triangles.into_iter().map(|triangle| triangle.map(number)).collect())
}

/// Twice the signed area of a triangle.
fn area(corners: &[[f64; 2]], [a, b, c]: [usize; 3]) -> f64 {
    let [a, b, c] = [a, b, c].map(|corner| corners[corner]);
    (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polygons_are_divided_counter_clockwise() {
        let square = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
        assert_eq!(divide(square.to_vec()).unwrap(), [[0, 1, 2], [0, 2, 3]]);
        assert_eq!(divide(square[..3].to_vec()).unwrap(), [[0, 1, 2]]);
        assert_eq!(divide(vec![square[0], square[2], square[1]]).unwrap(), [[2, 1, 0]]);
        // Only the diagonal at the notch is inside.
        let notched = vec![[0.0, 0.0], [4.0, 0.0], [1.0, 1.0], [0.0, 4.0]];
        let parts = divide(notched.clone()).unwrap();
        assert_eq!(parts, [[0, 1, 2], [0, 2, 3]]);
        let turned = vec![notched[1], notched[2], notched[3], notched[0]];
        assert_eq!(divide(turned).unwrap(), [[1, 2, 3], [1, 3, 0]]);
        assert_eq!(divide(square[..2].to_vec()), None);
        let star: Vec<[f64; 2]> = (0..10)
            .map(|k| (k, if k % 2 == 0 { 1.0 } else { 0.1 }))
            .map(|(k, r)| [r * (0.628 * f64::from(k)).cos(), r * (0.628 * f64::from(k)).sin()])
            .collect();
        assert_eq!(divide(star), None);
    }
}
