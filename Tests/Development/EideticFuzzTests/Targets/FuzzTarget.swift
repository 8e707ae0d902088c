import EideticCore

/// Code that reads bytes of others, as a function that must return for any bytes.
struct FuzzTarget: Sendable {
    /// The name, by which `script/fuzz` and the folders of found inputs know the target.
    let name: String
    /// The formats of the images of the corpus that are seeds.
    var formats: [ImageFormat] = []
    /// The largest number of bytes of an input.
    var maximumLength = 4_096
    /// Inputs to begin with, made by the library's own writers.
    var seeds: @Sendable () throws -> [[UInt8]] = { [] }
    /// Reads the bytes; ends the process if what was read contradicts itself.
    let run: @Sendable ([UInt8]) -> Void

    /// All targets, in the order of `script/fuzz --list`.
    static let all = images + imageParts + kernels + http + urls + files + messages

    /// Returns the target with a name.
    static func named(_ name: String) -> FuzzTarget? { all.first { $0.name == name } }
}

/// Ends the process unless a condition holds; also in release builds, and with the place of the caller.
func require(_ condition: Bool, _ message: @autoclosure () -> String, line: UInt = #line, file: StaticString = #file) {
    if !condition { fatalError(message(), file: file, line: line) }
}
