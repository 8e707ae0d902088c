import EideticCore
import EideticHTTP

/// A parser of the lines of a response's head, as libcurl delivers them: those of further heads and of trailers follow.
struct HeadLineParser {
    /// The head of the latest status line.
    var head = ResponseHead()
    /// A Boolean value indicating whether the head is that of the response, so that further lines are of its trailers.
    var isComplete = false
    private(set) var byteCount = 0
    /// A Boolean value indicating whether a status line may follow, at the beginning and after the end of a head.
    private var mayBegin = true

    /// The largest number of bytes of all heads of a response.
    static let limit = 262_144

    /// The statuses of responses after which libcurl sends the request once more: with a digest, or without `Expect`.
    private static let repeatedStatuses: Set = [401, 407, 417]

    /// Adds a line; returns `true` if the head ends with it.
    mutating func append(_ line: UnsafeRawBufferPointer) -> Bool {
        byteCount += line.count
        defer { mayBegin = line.isEndOfHead }
        if line.startsWithStatusLine, isComplete ? Self.repeatedStatuses.contains(head.status) : mayBegin {
            head = ResponseHead(statusLine: line)
            isComplete = false
        } else if isComplete {
            return false
        } else if line.isEndOfHead {
            return true
        } else if line.isContinuation {
            head.continueLastField(with: line.text(from: 0, to: line.count))
        } else if let colon = line.index(of: UInt8(ascii: ":"), from: 0) {
            head.add(line.text(from: colon + 1, to: line.count), for: line, nameLength: colon)
        }
        return false
    }

    /// Returns the error of an exchange of `url` that libcurl ended without a fault, but also without a response.
    func incompleteHeadError(url: String) -> EideticError {
        let fault = "the connection was closed within the head, after \(byteCount) bytes"
        return EideticError(.connectionLost, message: "\(url): \(fault)")
    }
}

extension UnsafeRawBufferPointer {
    /// Calls `body` with each line, and stops if it returns `false`, which is then the result.
    ///
    /// libcurl delivers the lines that arrived during a pause together, from a single buffer.
    func allLines(_ body: (UnsafeRawBufferPointer) -> Bool) -> Bool {
        var start = 0
        while start < count {
            let end = index(of: UInt8(ascii: "\n"), from: start).map { $0 + 1 } ?? count
            guard body(UnsafeRawBufferPointer(rebasing: self[start..<end])) else { return false }
            start = end
        }
        return true
    }
}
