/// A place, as it is passed to applications.
struct Location: Equatable {
    let latitude: Double
    let longitude: Double
    /// The radius of uncertainty in metres.
    let accuracy: Double

    var isValid: Bool {
        (-90...90).contains(latitude) && (-180...180).contains(longitude) && accuracy >= 0 && accuracy.isFinite
    }

    /// The text of the wake's payload: three numbers, divided by spaces.
    var payload: [UInt8] { Array("\(latitude) \(longitude) \(accuracy)".utf8) }
}
