/// A matrix of three rows and columns.
struct ColourMatrix {
    let columns: [SIMD3<Double>]

    init(columns: [SIMD3<Double>]) { self.columns = columns }

    /// The responses of the cones to CIE XYZ, by Bradford.
    private static let bradford = Self(columns: [
        [0.8951, -0.7502, 0.0389], [0.2664, 1.7135, -0.0685], [-0.1614, 0.0367, 1.0296],
    ])

    /// Linear red, green and blue between two primaries, adapted from white to white; `nil` if one of them spans no
    /// colours.
    init?(from source: Chromaticities, to target: Chromaticities) {
        guard let from = Self(connecting: source), let to = Self(connecting: target)?.inverse else { return nil }
        self = to * from
    }

    /// Linear red, green and blue to those of sRGB; the columns are CIE XYZ of their primaries, adapted to D50.
    init?(connecting columns: [SIMD3<Double>]) {
        guard let target = Self.sRGB?.inverse else { return nil }
        self = target * Self(columns: columns)
    }

    private static let sRGB = Self(connecting: .sRGB)
    static let identity = Self(columns: [[1, 0, 0], [0, 1, 0], [0, 0, 1]])

    /// Linear red, green and blue to CIE XYZ, adapted to the white of profiles; `nil` if they span no colours.
    private init?(connecting colours: Chromaticities) {
        guard let xyz = Self(xyzOf: colours), let back = Self.bradford.inverse else { return nil }
        let before = Self.bradford * Self.xyz(colours.white)
        guard before.min() > 0 else { return nil }
        let gains = Self.bradford * [0.9642, 1, 0.8249] / before
        let adaptation = Self(columns: [[gains.x, 0, 0], [0, gains.y, 0], [0, 0, gains.z]])
        self = back * (adaptation * (Self.bradford * xyz))
    }

    /// A Boolean value indicating whether primaries that the matrix converts to those of sRGB are nearly the same.
    var isNearIdentity: Bool {
        guard let sRGB = Self.sRGB else { return false }
        return zip((sRGB * self).columns, sRGB.columns).allSatisfy { (($0 - $1) * ($0 - $1)).max() < 0.002 * 0.002 }
    }

    /// Linear red, green and blue with these primaries to CIE XYZ, where white has a luminance of 1.
    private init?(xyzOf colours: Chromaticities) {
        guard colours.white.y != 0 else { return nil }
        // Of any luminance, since that of a primary may be 0.
        let primaries = Self(
            columns: [colours.red, colours.green, colours.blue].map { [$0.x, $0.y, 1 - $0.x - $0.y] }
        )
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
