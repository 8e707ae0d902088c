import EideticCore

/// The URLs that a command line names: by themselves, in list files (`@FILE`), or on the standard input (`-`).
struct URLList {
    /// The largest list file.
    private static let limit = ByteCount.mebibytes(64)

    /// The URLs in their order; some may be there several times.
    private(set) var urls: [String] = []
    /// The lists that could not be read, and why.
    private(set) var problems: [String] = []

    /// Reads the lists; blocks.
    init(_ operands: [String]) {
        for operand in operands {
            if operand == "-" {
                read("-", name: "the standard input")
            } else if operand.hasPrefix("@") {
                let path = String(operand.dropFirst())
                read(path, name: path)
            } else {
                urls.append(operand)
            }
        }
    }

    /// One URL a line; empty lines and those that begin with `#` are left out.
    private mutating func read(_ path: String, name: String) {
        do throws(EideticError) {
            let text = String(decoding: try FileContents.read(path, limit: Self.limit), as: UTF8.self)
            let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingSpaces }
            urls += lines.filter { !$0.isEmpty && !$0.hasPrefix("#") }
        } catch {
            problems.append("the list \(name) could not be read: \(error.message)")
        }
    }
}

extension Substring {
    /// The text without white space at its ends.
    fileprivate var trimmingSpaces: String {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
