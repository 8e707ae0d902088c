import EideticCore
import EideticFetch
import EideticTestSupport
import Testing

@Suite("Consequences of failures")
struct FailureConsequencesTests {
    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4)
        .joined(separator: "/")

    private static let codes: [EideticError.Code] = [
        .hostNotFound, .connectionRefused, .connectionLost, .timedOut, .lengthMismatch, .notAnImage, .corrupt,
        .truncated, .unsupportedFormat, .limitExceeded, .tlsFailure, .badRedirect, .badResponse, .diskFull,
        .fileFailure, .outOfMemory,
    ]
    private static let otherCodes: [EideticError.Code] = [
        .invalidURL, .invalidArgument, .cancelled, .cacheMiss, .refused, .offline, .encodingFailed, .decoderFailed,
        .sandboxUnavailable, .permissionDenied, .notFound, .cacheUnavailable, .checksumMismatch, .inUse,
    ]

    private func row(_ code: EideticError.Code, status: Int? = nil) -> String {
        let error = EideticError(code, message: "failed", httpStatus: status)
        let reached = FailureConsequences(of: error), unreachable = FailureConsequences(of: error, isUnreachable: true)
        #expect(!reached.countsAgainstOrigin)
        func text(_ isTrue: Bool) -> String { isTrue ? "yes" : "no" }
        let lifetime = reached.lifetime.map { "\(Int($0.inSeconds)) s" } ?? "no"
        let circuit = unreachable.countsAgainstOrigin ? "if unreachable" : "no"
        return "\(text(reached.isRetried)) | \(lifetime) | \(circuit) | \(text(reached.isAttemptedLater)) |"
    }

    @Test("L07 the table of the documentation has what is attempted again, remembered, and counted for the circuit")
    func documentation() throws {
        let page = String(decoding: try FileSystem().contents(of: "\(Self.root)/docs/fetch-outcomes.md"), as: UTF8.self)
        let lines = page.split(separator: "\n").filter { $0.hasPrefix("| `") || $0.hasPrefix("| any other") }
        for code in Self.codes { #expect(lines.contains("| `\(code)` | \(row(code))"), "\(code)") }
        for status in [408, 425, 429, 500, 404, 410, 401, 403, 407, 400] {
            #expect(lines.contains("| `httpStatus` \(status) | \(row(.httpStatus, status: status))"), "\(status)")
        }
        for status in 400...599 where ![408, 425, 429, 404, 410, 401, 403, 407].contains(status) {
            #expect(row(.httpStatus, status: status) == row(.httpStatus, status: status < 500 ? 400 : 500))
        }
        for code in Self.otherCodes { #expect(lines.contains("| any other | \(row(code))"), "\(code)") }
    }
}
