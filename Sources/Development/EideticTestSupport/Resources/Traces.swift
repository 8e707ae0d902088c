import EideticCore
package import Testing

/// Recorded request sequences of real caches, in the directory that the environment variable `EIDETIC_TRACES` names.
package enum Traces {
    /// One request of a trace.
    package struct Request: Sendable, Hashable {
        package let key: String
        /// The object's size in bytes; equal for all requests of one key.
        package let size: Int
    }

    /// The directory; `nil` if the variable is not set or does not name a directory.
    package static let directory = directoryFromEnvironment("EIDETIC_TRACES")

    /// Returns the requests of the trace `name`, such as "bu98", in order.
    package static func requests(ofTrace name: String) async throws -> [Request] {
        try await requests(inFile: "\(directory ?? "")/\(name).csv.xz")
    }

    /// Returns the requests of a file of "key,size" lines, in order; decompresses a file whose name ends in `.xz`.
    ///
    /// - Throws: `fileFailure` if the file cannot be read; `corrupt`, with the line number, for an invalid line.
    package static func requests(inFile file: String) async throws -> [Request] {
        guard file.hasSuffix(".xz") else { return try parse(try FileSystem().contents(of: file), file: file) }
        let xz = try Subprocess("xz", arguments: ["-dc", "--", file])
        let result = await xz.waitUntilExit()
        guard result.status == .exited(0) else {
            throw EideticError(.fileFailure, message: "xz cannot decompress \(file): \(result.errorText)")
        }
        return try parse(result.output, file: file)
    }

    /// Parses "key,size" lines; a key is any text without a comma.
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
    /// Skips a test, with a message, if `EIDETIC_TRACES` does not name a directory.
    package static var needsTraces: Self {
        .enabled(if: Traces.directory != nil, "EIDETIC_TRACES does not name a directory of traces")
    }
}
