import Testing

@testable import EideticFetch

@Suite("Rate limiter")
struct RateLimiterTests {
    @Test("L03 a limit below one byte per second is one byte per second", arguments: [(-1, 1), (0, 1), (1, 1), (2, 2)])
    func leastRate(limit: Int, rate: Int) {
        #expect(RateLimiter(bytesPerSecond: limit, now: .zero).delay == .seconds(1) / rate)
    }
}
