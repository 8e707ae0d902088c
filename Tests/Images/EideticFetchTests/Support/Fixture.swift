import EideticCore
import EideticFetch

/// Bodies for tests.
enum Fixture {
    /// Returns `count` bytes that begin with the PNG signature.
    static func image(length count: Int = 1_000) -> [UInt8] {
        let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        let rest = [UInt8](unsafeUninitializedCapacity: max(0, count - signature.count)) { bytes, initializedCount in
            for index in 0..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index &* 31 >> 3) }
            initializedCount = bytes.count
        }
        return signature + rest
    }

    /// Returns the bytes of `image(length:)` from `start` on.
    static func imageRemainder(from start: Int, of count: Int = 1_000) -> [UInt8] {
        Array(image(length: count)[start...])
    }

    static let webPage = Array("<!DOCTYPE html><html><body>Not here</body></html>".utf8)
}

/// Calls `body` and returns the error it throws, or `nil`.
func failure<Value>(of body: () async throws(EideticError) -> Value) async -> EideticError? {
    do throws(EideticError) {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}

extension Downloader {
    /// Loads the resource of a URL.
    func fetch(url: String) async throws(EideticError) -> FetchResponse { try await fetch(FetchRequest(url: url)) }
}
