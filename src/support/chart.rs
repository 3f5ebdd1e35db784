//! Diagrams as SVG: [`svg`] draws [`Panel`]s of [`Curve`]s in a grid.

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

/// Colours that color-blind readers can tell apart (Okabe and Ito).
pub const COLORS: [(u8, u8, u8); 6] =
    [(0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (86, 180, 233), (230, 159, 0)];

/// The colours of all pages, light and dark, as CSS variables.
pub const PALETTE: &str = include_str!("palette.css");

/// Colours of a chart in the dark: the ground, grid, frames, text and the darkest curve.
const DARK: &str = "<style>@media(prefers-color-scheme:dark){svg rect[fill=\"#FFFFFF\"]{fill:#1f2226}\
svg [stroke=\"#E1E1E1\"]{stroke:#3b4046}svg [stroke=\"#000000\"]{stroke:#a2abb5}svg text{fill:#e4e6e9}\
svg [stroke=\"#0072B2\"]{stroke:#4aa3df}svg [fill=\"#0072B2\"]{fill:#4aa3df}}</style>";

/// A line through points, with an optional band or error bars.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    /// The name in the legend. There is no legend when no curve has a name.
    pub name: String,
    /// Red, green, blue.
    pub color: (u8, u8, u8),
    /// Points (x, y), in the order in which the line joins them.
    pub points: Vec<(f64, f64)>,
    /// An area: (x, lower bound, upper bound).
    pub band: Vec<(f64, f64, f64)>,
    /// Error bars: (x, lower bound, value, upper bound).
    pub bars: Vec<(f64, f64, f64, f64)>,
    /// Mark every point.
    pub dots: bool,
}

/// One diagram.
#[derive(Clone, Debug, Default)]
pub struct Panel {
    /// Above the chart.
    pub title: String,
    /// Below the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// Drawn in this order, later curves over earlier ones.
    pub curves: Vec<Curve>,
    /// Dashed horizontal lines.
    pub marks: Vec<f64>,
    /// Logarithmic y axis; values that are not positive are left out.
    pub log: bool,
    /// A range that the y axis must include.
    pub y_range: Option<(f64, f64)>,
    /// Label whole numbers only on the x axis.
    pub whole_x: bool,
}

/// Draws panels of `size` (width and height in pixels) in rows of `columns`.
pub fn svg(panels: &[Panel], columns: usize, size: (u32, u32)) -> String {
    let rows = panels.len().div_ceil(columns.max(1)).max(1);
    let mut out = String::new();
    {
        let whole = (size.0 * columns as u32, size.1 * rows as u32);
        let root = SVGBackend::with_string(&mut out, whole).into_drawing_area();
        // writing to a string cannot fail
        let _ = root.fill(&WHITE);
        for (panel, area) in panels.iter().zip(root.split_evenly((rows, columns.max(1)))) {
            let _ = panel.draw(&area);
        }
        let _ = root.present();
    }
    // the style belongs inside the element
    out.replacen(">\n", &format!(">\n{DARK}\n"), 1)
}

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn<'a> = Result<(), DrawingAreaErrorKind<<SVGBackend<'a> as DrawingBackend>::ErrorType>>;

impl Panel {
    fn values(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let pair = |&(x, low, high): &(f64, f64, f64)| [(x, low), (x, high)];
        self.curves
            .iter()
            .flat_map(move |c| {
                c.points
                    .iter()
                    .copied()
                    .chain(c.band.iter().flat_map(pair))
                    .chain(c.bars.iter().flat_map(|b| [(b.0, b.1), (b.0, b.3)]))
            })
            .filter(|&(x, y)| self.shows(x, y))
    }

    fn shows(&self, x: f64, y: f64) -> bool {
        x.is_finite() && y.is_finite() && (!self.log || y > 0.0)
    }

    fn ranges(&self) -> [(f64, f64); 2] {
        let span = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(v), b.max(v)))
        };
        let mut x = span(&mut self.values().map(|p| p.0));
        let mut y = self
            .y_range
            .unwrap_or_else(|| span(&mut self.values().map(|p| p.1).chain(self.marks.iter().copied())));
        if x.0 > x.1 {
            x = (0.0, 1.0);
        }
        if y.0 > y.1 {
            y = if self.log { (1.0, 10.0) } else { (0.0, 1.0) };
        }
        if x.0 == x.1 {
            x = (x.0 - 0.5, x.1 + 0.5);
        }
        if self.log {
            y = (y.0 * 0.97, y.1 * 1.03);
        } else {
            let room = if y.0 == y.1 { y.0.abs().max(1.0) } else { y.1 - y.0 } * 0.05;
            y = (y.0 - room, y.1 + room);
        }
        [x, y]
    }

    /// Where a legend hides the fewest points.
    fn emptiest_corner(&self) -> SeriesLabelPosition {
        let scale = |y: f64| if self.log { y.ln() } else { y };
        let [x, y] = self.ranges();
        let (x, y) = (x, (scale(y.0), scale(y.1)));
        let hidden = |right: bool, up: bool| {
            let near = |share: f64, high: bool| if high { share > 0.65 } else { share < 0.35 };
            let points = self.curves.iter().flat_map(|c| &c.points).filter(|p| self.shows(p.0, p.1));
            points
                .filter(|p| near((p.0 - x.0) / (x.1 - x.0), right))
                .filter(|p| near((scale(p.1) - y.0) / (y.1 - y.0), up))
                .count()
        };
        use SeriesLabelPosition as At;
        let corners = [
            (At::UpperRight, hidden(true, true)),
            (At::LowerLeft, hidden(false, false)),
            (At::UpperLeft, hidden(false, true)),
            (At::LowerRight, hidden(true, false)),
        ];
        let fewest = corners.into_iter().min_by_key(|c| c.1);
        fewest.map_or(At::UpperRight, |c| c.0)
    }

    fn draw<'a>(&self, area: &Area<'a>) -> Drawn<'a> {
        let [x, y] = self.ranges();
        if self.log {
            self.draw_on(area, x.0..x.1, (y.0..y.1).log_scale())
        } else {
            self.draw_on(area, x.0..x.1, y.0..y.1)
        }
    }

    fn draw_on<'a, Y>(&self, area: &Area<'a>, x: std::ops::Range<f64>, y: Y) -> Drawn<'a>
    where
        Y: AsRangedCoord<Value = f64>,
        Y::CoordDescType: ValueFormatter<f64>,
    {
        let (left, right) = (x.start, x.end);
        // no more labels than whole numbers
        let labels = if self.whole_x { ((right - left) as usize + 1).min(6) } else { 6 };
        let on_x = |x: &f64| if self.whole_x && x.fract() != 0.0 { String::new() } else { number(*x) };
        let legend = self.emptiest_corner();
        let mut chart = ChartBuilder::on(area)
            .caption(&self.title, ("sans-serif", 15))
            .margin(10)
            .margin_right(18)
            .x_label_area_size(if self.x_label.is_empty() { 24 } else { 38 })
            .y_label_area_size(if self.y_label.is_empty() { 44 } else { 58 })
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .x_labels(labels)
            .y_labels(6)
            .light_line_style(TRANSPARENT)
            .bold_line_style(RGBColor(225, 225, 225))
            .label_style(("sans-serif", 12))
            .axis_desc_style(("sans-serif", 12))
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .x_label_formatter(&on_x)
            .y_label_formatter(&|y| number(*y))
            .draw()?;
        for &mark in &self.marks {
            let style = RGBColor(120, 120, 120).stroke_width(1);
            chart.draw_series(DashedLineSeries::new([(left, mark), (right, mark)], 5, 4, style))?;
        }
        for curve in &self.curves {
            let color = RGBColor(curve.color.0, curve.color.1, curve.color.2);
            if !curve.band.is_empty() {
                let up = curve.band.iter().map(|b| (b.0, b.2));
                let down = curve.band.iter().rev().map(|b| (b.0, b.1));
                let outline: Vec<_> = up.chain(down).filter(|p| self.shows(p.0, p.1)).collect();
                chart.draw_series([Polygon::new(outline, color.mix(0.25))])?;
            }
            let bars = curve.bars.iter().filter(|b| self.shows(b.0, b.1) && self.shows(b.0, b.3));
            chart.draw_series(bars.map(|b| ErrorBar::new_vertical(b.0, b.1, b.2, b.3, color.filled(), 8)))?;
            let points = || curve.points.iter().copied().filter(|p| self.shows(p.0, p.1));
            let line = chart.draw_series(LineSeries::new(points(), color.stroke_width(2)))?;
            if !curve.name.is_empty() {
                line.label(&curve.name)
                    .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], color.stroke_width(2)));
            }
            if curve.dots {
                chart.draw_series(points().map(|p| Circle::new(p, 3, color.filled())))?;
            }
        }
        if self.curves.iter().any(|c| !c.name.is_empty()) {
            chart
                .configure_series_labels()
                .position(legend)
                .label_font(("sans-serif", 12))
                .background_style(WHITE.mix(0.8))
                .border_style(RGBColor(200, 200, 200))
                .draw()?;
        }
        Ok(())
    }
}

/// A number without trailing zeros: at most six decimals, three significant digits for very small numbers.
fn number(x: f64) -> String {
    // a rounding error instead of zero
    if x.abs() < 1e-12 {
        return "0".into();
    }
    if x.abs() < 1e-4 {
        return format!("{x:.2e}");
    }
    let text = format!("{x:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_digits_they_need() {
        for (x, text) in [
            (3.0, "3"),
            (-100.0, "-100"),
            (0.0125, "0.0125"),
            (0.1 + 0.2, "0.3"),
            (-1e-17, "0"),
            (2.5e-5, "2.50e-5"),
        ] {
            assert_eq!(number(x), text);
        }
    }

    #[test]
    fn the_legend_avoids_the_curves() {
        let corner = |points: &[(f64, f64)], log| {
            let curve = Curve { points: points.to_vec(), ..Curve::default() };
            Panel { curves: vec![curve], log, ..Panel::default() }.emptiest_corner()
        };
        use SeriesLabelPosition as At;
        assert!(matches!(corner(&[(0.0, 9.0), (1.0, 1.0), (2.0, 0.0)], false), At::UpperRight));
        assert!(matches!(corner(&[(0.0, 9.0), (1.0, 9.0), (2.0, 9.1), (2.0, 0.0)], false), At::LowerLeft));
        let rising = [(0.0, 1.0), (0.5, 10.0), (2.0, 1000.0), (2.0, 1.0), (0.1, 1.0)];
        assert!(matches!(corner(&rising, true), At::UpperLeft));
        assert!(matches!(corner(&[], false), At::UpperRight));
    }

    /// The texts of an SVG in order.
    fn texts(svg: &str) -> Vec<String> {
        svg.split("<text")
            .skip(1)
            .map(|t| t.split('>').nth(1).unwrap_or("").split('<').next().unwrap_or("").trim().to_string())
            .collect()
    }

    #[test]
    fn labels_of_an_axis_do_not_repeat() {
        for (low, high, log) in
            [(0.0113, 0.0121, true), (0.0, 1.0, false), (-35.0, 400.0, false), (5.0, 5.0, false)]
        {
            let panel = Panel {
                title: "title".into(),
                curves: vec![Curve {
                    points: vec![(0.0, low), (2.5e6, high)],
                    dots: true,
                    ..Curve::default()
                }],
                log,
                ..Panel::default()
            };
            let picture = svg(&[panel], 1, (800, 420));
            let labels: Vec<_> =
                texts(&picture).into_iter().filter(|t| t != "title" && !t.is_empty()).collect();
            let numbers: std::collections::HashSet<_> =
                labels.iter().filter(|t| *t != "0.0" && *t != "0").collect();
            let count = labels.iter().filter(|t| *t != "0.0" && *t != "0").count();
            assert_eq!(numbers.len(), count, "{labels:?}");
            assert!(count >= 4, "{labels:?}");
            assert!(picture.contains("<circle"));
        }
    }

    #[test]
    fn nothing_to_draw_is_an_empty_frame() {
        let nan =
            Curve { name: "none".into(), points: vec![(f64::NAN, 1.0), (1.0, -1.0)], ..Curve::default() };
        let panel = Panel { curves: vec![nan], log: true, ..Panel::default() };
        let picture = svg(&[panel, Panel::default()], 2, (300, 200));
        assert!(picture.starts_with("<svg") && picture.trim_end().ends_with("</svg>"));
        assert!(picture.lines().nth(1).unwrap().starts_with("<style>"), "{picture}");
    }

    #[test]
    fn generations_are_whole_numbers() {
        for last in 1..12 {
            let points = (0..=last).map(|x| (f64::from(x), 0.5)).collect();
            let curves = vec![Curve { points, ..Curve::default() }];
            let panel = Panel { curves, whole_x: true, y_range: Some((0.0, 1.0)), ..Panel::default() };
            let picture = svg(&[panel], 1, (540, 300));
            let on_y = ["0", "0.2", "0.4", "0.6", "0.8", "1", ""];
            let on_x = texts(&picture).into_iter().filter(|text| !on_y.contains(&text.as_str()));
            let on_x: Vec<f64> = on_x.map(|text| text.parse().unwrap()).collect();
            assert!(
                on_x.iter().all(|x| x.fract() == 0.0) && (last < 3 || on_x.len() > 1),
                "{last}: {on_x:?}"
            );
        }
    }
}
