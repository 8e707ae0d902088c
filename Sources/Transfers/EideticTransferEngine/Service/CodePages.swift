import EideticCore
import Glibc

/// The code of this program and its libraries, whose pages can be given back to the system.
///
/// Starting uses far more code than waiting. What is used again is mapped again from the page cache.
struct CodePages {
    private let ranges: [(start: UInt, length: Int)]

    /// Finds the code that is mapped now; must be called before the sandbox forbids it.
    init() {
        let text = String(decoding: (try? FileSystem().contents(of: "/proc/self/maps")) ?? [], as: UTF8.self)
        ranges = text.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            // Code is never written, so that nothing is lost; the kernel's own pages have no file.
            guard fields.count == 6, fields[1] == "r-xp", fields[5].contains("/") else { return nil }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            return bounds.count == 2 ? (bounds[0], Int(bounds[1] - bounds[0])) : nil
        }
    }

    func release() {
        for range in ranges { madvise(UnsafeMutableRawPointer(bitPattern: range.start), range.length, MADV_DONTNEED) }
    }
}
