import EideticCore
package import Testing

/// Recorded request orders of real caches, named by the environment variable `EIDETIC_TRACES`.
package enum Traces {
    /// One request of a trace: which object, and how large it is.
    package struct Request: Sendable, Hashable {
        package let key: Int
        /// In bytes; the same for each request of one key.
        package let size: Int
    }

    /// The directory; `nil` where the variable is not set or names no directory.
    package static let directory = directoryFromEnvironment("EIDETIC_TRACES")

    /// The requests of the trace `name` ("bu98"), in their order.
    package static func requests(_ name: String) async throws -> [Request] {
        let xz = try Subprocess("xz", ["-dc", "\(directory ?? "")/\(name).csv.xz"])
        let result = await xz.finish()
        guard result.status == .exited(0) else {
            throw EideticError(.fileFailure, "xz could not unpack trace \(name): \(result.errorText)")
        }
        return parse(result.output)
    }

    /// Reads "key,size" lines.
    private static func parse(_ bytes: [UInt8]) -> [Request] {
        var requests: [Request] = []
        var key = 0
        var number = 0
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number * 10 + Int(byte - UInt8(ascii: "0"))
            case UInt8(ascii: ","): (key, number) = (number, 0)
            case UInt8(ascii: "\n"):
                requests.append(Request(key: key, size: number))
                number = 0
            default: break
            }
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
