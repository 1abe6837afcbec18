//! Points and affine transformations of the plane; y grows downwards, as in SVG.

/// A point, or the vector to it, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: f32,
    pub(super) y: f32,
}

impl Point {
    pub(super) const fn new(x: f32, y: f32) -> Self {
        Self { x, y }
    }

    pub(super) fn plus(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y)
    }

    pub(super) fn times(self, factor: f32) -> Self {
        Self::new(self.x * factor, self.y * factor)
    }

    pub(super) fn length(self) -> f32 {
        self.x.hypot(self.y)
    }

    /// The point `part` (0 to 1) of the way from here to `end`.
    pub(super) fn towards(self, end: Self, part: f32) -> Self {
        self.plus(end.minus(self).times(part))
    }
}

/// An affine transformation: `x' = a·x + c·y + e`, `y' = b·x + d·y + f`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transform {
    a: f32,
    b: f32,
    c: f32,
    d: f32,
    e: f32,
    f: f32,
}

impl Transform {
    pub(super) const IDENTITY: Self = Self { a: 1.0, b: 0.0, c: 0.0, d: 1.0, e: 0.0, f: 0.0 };

    pub(super) const fn translate(x: f32, y: f32) -> Self {
        Self { e: x, f: y, ..Self::IDENTITY }
    }

    pub(super) const fn scale(x: f32, y: f32) -> Self {
        Self { a: x, d: y, ..Self::IDENTITY }
    }

    /// Clockwise as it is seen, since y grows downwards.
    pub(super) fn rotate(degrees: f32) -> Self {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        Self { a: cosine, b: sine, c: -sine, d: cosine, e: 0.0, f: 0.0 }
    }

    /// The transformation that applies `inner` first.
    pub(super) fn after(&self, inner: &Self) -> Self {
        Self {
            a: self.a * inner.a + self.c * inner.b,
            b: self.b * inner.a + self.d * inner.b,
            c: self.a * inner.c + self.c * inner.d,
            d: self.b * inner.c + self.d * inner.d,
            e: self.a * inner.e + self.c * inner.f + self.e,
            f: self.b * inner.e + self.d * inner.f + self.f,
        }
    }

    pub(super) fn apply(&self, point: Point) -> Point {
        Point::new(
            self.a * point.x + self.c * point.y + self.e,
            self.b * point.x + self.d * point.y + self.f,
        )
    }

    /// The list of an SVG `transform` attribute; functions other than `translate`, `rotate` and `scale` are passed over.
    pub(super) fn parse(list: &str) -> Self {
        let mut all = Self::IDENTITY;
        for function in list.split_inclusive(')') {
            let Some((name, arguments)) = function.trim().trim_end_matches(')').split_once('(')
            else {
                continue;
            };
            let numbers: Vec<f32> = arguments
                .split([' ', ','])
                .filter_map(|number| number.trim().parse().ok())
                .collect();
            let one = match (name.trim_matches([' ', ',']), numbers.as_slice()) {
                ("translate", [x]) => Self::translate(*x, 0.0),
                ("translate", [x, y]) => Self::translate(*x, *y),
                ("scale", [both]) => Self::scale(*both, *both),
                ("scale", [x, y]) => Self::scale(*x, *y),
                ("rotate", [angle]) => Self::rotate(*angle),
                ("rotate", [angle, x, y]) => Self::translate(*x, *y)
                    .after(&Self::rotate(*angle))
                    .after(&Self::translate(-x, -y)),
                _ => continue,
            };
            all = all.after(&one);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(list: &str, x: f32, y: f32) -> (i32, i32) {
        let point = Transform::parse(list).apply(Point::new(x, y));
        (point.x.round() as i32, point.y.round() as i32)
    }

    #[test]
    fn transforms_apply_from_right_to_left() {
        for (list, expect) in [
            ("", (3, 4)),
            ("translate(10 20)", (13, 24)),
            ("translate(10,20) scale(2)", (16, 28)),
            ("rotate(-90)", (4, -3)),
            ("translate(18 100) rotate(-90)", (22, 97)),
            ("rotate(90 3 4)", (3, 4)),
            ("skewX(3)", (3, 4)),
        ] {
            assert_eq!(apply(list, 3.0, 4.0), expect, "{list}");
        }
    }
}
