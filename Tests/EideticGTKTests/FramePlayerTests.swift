import EideticGTK
import Testing

@Suite("Frame player")
struct FramePlayerTests {
    private let three: [Duration] = [.milliseconds(100), .milliseconds(50), .milliseconds(150)]

    @Test(
        "F03 the current frame depends on the time played, in whatever steps it passed",
        arguments: [(0, 0), (99, 0), (100, 1), (149, 1), (150, 2), (299, 2), (300, 0), (460, 2), (30_100, 1)]
    )
    func frames(time: Int, frame: Int) throws {
        var singleStep = try #require(FramePlayer(durations: three, loops: nil))
        _ = singleStep.advance(by: .milliseconds(time))
        #expect(singleStep.frameIndex == frame)
        var manySteps = try #require(FramePlayer(durations: three, loops: nil))
        for _ in 0..<time { _ = manySteps.advance(by: .milliseconds(1)) }
        #expect(manySteps.frameIndex == frame)
    }

    @Test("F03 an animation ends at the last frame of its last loop", arguments: [1, 2, 3])
    func loops(count: Int) throws {
        var player = try #require(FramePlayer(durations: three, loops: count))
        _ = player.advance(by: .milliseconds(300 * count - 1))
        #expect(!player.isFinished)
        _ = player.advance(by: .milliseconds(1))
        #expect(player.isFinished && player.frameIndex == 2)
        let changes = player.advance(by: .seconds(10))
        #expect(!changes && player.frameIndex == 2)
    }

    @Test("F03 an image that cannot play has no player, and frames without duration are skipped")
    func impossible() throws {
        #expect(FramePlayer(durations: [], loops: nil) == nil)
        #expect(FramePlayer(durations: [.seconds(1)], loops: nil) == nil)
        #expect(FramePlayer(durations: [.zero, .zero], loops: nil) == nil)
        var player = try #require(FramePlayer(durations: [.zero, .seconds(1), .seconds(-1), .seconds(1)], loops: nil))
        let changes = player.advance(by: .milliseconds(1))
        #expect(changes && player.frameIndex == 1)
        _ = player.advance(by: .seconds(1))
        #expect(player.frameIndex == 3)
    }
}
