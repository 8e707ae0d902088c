/// A matrix of three rows and columns.
struct ColourMatrix {
    private var columns: [SIMD3<Double>]

    private init(columns: [SIMD3<Double>]) { self.columns = columns }

    /// The responses of the cones to CIE XYZ, by Bradford.
    private static let bradford = Self(columns: [
        [0.8951, -0.7502, 0.0389], [0.2664, 1.7135, -0.0685], [-0.1614, 0.0367, 1.0296],
    ])

    /// Linear red, green and blue between two primaries, adapted from white to white; `nil` if one of them spans no
    /// colours.
    init?(from source: Chromaticities, to target: Chromaticities) {
        guard let from = Self(xyzOf: source), let to = Self(xyzOf: target)?.inverse, let back = Self.bradford.inverse
        else { return nil }
        let before = Self.bradford * Self.xyz(source.white)
        let after = Self.bradford * Self.xyz(target.white)
        guard before.min() > 0 else { return nil }
        let gains = after / before
        let adaptation = Self(columns: [[gains.x, 0, 0], [0, gains.y, 0], [0, 0, gains.z]])
        self = to * (back * (adaptation * (Self.bradford * from)))
    }

    /// Linear red, green and blue with these primaries to CIE XYZ, where white has a luminance of 1.
    private init?(xyzOf colours: Chromaticities) {
        let points = [colours.red, colours.green, colours.blue]
        guard (points + [colours.white]).allSatisfy({ $0.y != 0 }) else { return nil }
        let primaries = Self(columns: points.map(Self.xyz))
        guard let weights = primaries.inverse.map({ $0 * Self.xyz(colours.white) }) else { return nil }
        self.init(columns: (0..<3).map { primaries.columns[$0] * weights[$0] })
    }

    private static func xyz(_ point: SIMD2<Double>) -> SIMD3<Double> {
        [point.x / point.y, 1, (1 - point.x - point.y) / point.y]
    }

    fileprivate static func * (left: Self, right: SIMD3<Double>) -> SIMD3<Double> {
        left.columns[0] * right.x + left.columns[1] * right.y + left.columns[2] * right.z
    }

    fileprivate static func * (left: Self, right: Self) -> Self { Self(columns: right.columns.map { left * $0 }) }

    /// The inverse; `nil` if there is none.
    private var inverse: Self? {
        func product(_ a: SIMD3<Double>, by b: SIMD3<Double>) -> SIMD3<Double> {
            [a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x]
        }
        let rows = [
            product(columns[1], by: columns[2]), product(columns[2], by: columns[0]),
            product(columns[0], by: columns[1]),
        ]
        let determinant = (columns[0] * rows[0]).sum()
        guard determinant.magnitude > 1e-9 else { return nil }
        return Self(columns: (0..<3).map { [rows[0][$0], rows[1][$0], rows[2][$0]] / determinant })
    }

    var elements: [Float] { (0..<3).flatMap { row in (0..<3).map { Float(columns[$0][row]) } } }
}
