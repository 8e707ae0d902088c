import EideticCore
package import Testing

/// Recorded request orders of real caches, named by the environment variable `EIDETIC_TRACES`.
package enum Traces {
    /// One request of a trace: which object, and how large it is.
    package struct Request: Sendable, Hashable {
        package let key: String
        /// In bytes; the same for each request of one key.
        package let size: Int
    }

    /// The directory; `nil` where the variable is not set or names no directory.
    package static let directory = directoryFromEnvironment("EIDETIC_TRACES")

    /// The requests of the trace `name` ("bu98"), in their order.
    package static func requests(ofTrace name: String) async throws -> [Request] {
        try await requests(inFile: "\(directory ?? "")/\(name).csv.xz")
    }

    /// The requests of a file of "key,size" lines, in their order; one that ends in `.xz` is unpacked.
    ///
    /// Throws `fileFailure` where it cannot be read, and `corrupt` for a line that is none, with its number.
    package static func requests(inFile file: String) async throws -> [Request] {
        guard file.hasSuffix(".xz") else { return try parse(try FileSystem().contents(of: file), file: file) }
        let xz = try Subprocess("xz", arguments: ["-dc", "--", file])
        let result = await xz.waitUntilExit()
        guard result.status == .exited(0) else {
            throw EideticError(.fileFailure, message: "xz could not unpack \(file): \(result.errorText)")
        }
        return try parse(result.output, file: file)
    }

    /// Reads "key,size" lines; a key may be any text without a comma.
    private static func parse(_ bytes: [UInt8], file: String) throws(EideticError) -> [Request] {
        var requests: [Request] = []
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n")).enumerated() {
            let fields = line.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
            let size = fields.count == 2 ? Int(String(decoding: fields[1], as: UTF8.self)) : nil
            guard let size, size >= 0 else {
                let text = String(decoding: line.prefix(80), as: UTF8.self)
                throw EideticError(.corrupt, message: "\(file), line \(index + 1): \"\(text)\" is not \"key,size\"")
            }
            requests.append(Request(key: String(decoding: fields[0], as: UTF8.self), size: size))
        }
        return requests
    }
}

extension Trait where Self == ConditionTrait {
    /// Skips a test, and says so, where `EIDETIC_TRACES` names no directory.
    package static var needsTraces: Self {
        .enabled(if: Traces.directory != nil, "EIDETIC_TRACES does not name a directory of traces")
    }
}
