import Eidetic
import EideticViews
import Testing

@Suite("Playback timeline")
struct PlaybackTimelineTests {
    private let three: [Duration] = [.milliseconds(100), .milliseconds(50), .milliseconds(150)]

    private func timeline(
        _ order: AnimationPlayback.Order = .forward,
        loops: AnimationPlayback.Loops = .forever,
        durations: [Duration]? = nil,
        isComplete: Bool = true
    ) -> PlaybackTimeline {
        PlaybackTimeline(
            durations: durations ?? three,
            encodedLoopCount: nil,
            isComplete: isComplete,
            playback: AnimationPlayback(loops: loops, order: order)
        )
    }

    /// Returns the frames in the order in which they are shown, one entry for each change.
    private func sequence(_ timeline: PlaybackTimeline, milliseconds: Int) -> [Int] {
        var timeline = timeline, frames = [timeline.frameIndex]
        for _ in 0..<milliseconds where timeline.advance(by: .milliseconds(1)) { frames.append(timeline.frameIndex) }
        return frames
    }

    @Test(
        "F03 the current frame depends on the time played, in whatever steps it passed",
        arguments: [(0, 0), (99, 0), (100, 1), (149, 1), (150, 2), (299, 2), (300, 0), (460, 2), (30_100, 1)]
    )
    func frames(time: Int, frame: Int) {
        var single = timeline(), many = timeline()
        single.advance(by: .milliseconds(time))
        for _ in 0..<time { many.advance(by: .milliseconds(1)) }
        #expect(single.frameIndex == frame && many.frameIndex == frame)
    }

    @Test("F03 a loop is exact after a very long time", arguments: [0, 1, 299])
    func longTime(milliseconds: Int) {
        var timeline = timeline()
        timeline.advance(by: .milliseconds(300) * 10_000_000_000 + .milliseconds(milliseconds))
        #expect(timeline.frameIndex == (milliseconds == 299 ? 2 : 0))
        #expect(timeline.timeToNextFrame == .milliseconds(milliseconds == 299 ? 1 : 100 - milliseconds))
    }

    @Test("F03 an animation ends at the last frame of its last loop", arguments: [1, 2, 3])
    func loops(count: Int) {
        var timeline = timeline(loops: .times(count))
        timeline.advance(by: .milliseconds(300 * count - 1))
        #expect(!timeline.isFinished)
        timeline.advance(by: .milliseconds(1))
        #expect(timeline.isFinished && timeline.frameIndex == 2 && timeline.timeToNextFrame == nil)
        #expect(!timeline.advance(by: .seconds(10)) && timeline.frameIndex == 2)
    }

    @Test("F03 forward, reverse and bounce show exactly these frames")
    func orders() {
        #expect(sequence(timeline(), milliseconds: 700) == [0, 1, 2, 0, 1, 2, 0, 1])
        #expect(sequence(timeline(.reverse), milliseconds: 700) == [2, 1, 0, 2, 1, 0, 2])
        #expect(sequence(timeline(.bounce), milliseconds: 750) == [0, 1, 2, 1, 0, 1, 2, 1, 0])
        #expect(sequence(timeline(loops: .times(1)), milliseconds: 900) == [0, 1, 2])
        #expect(sequence(timeline(.reverse, loops: .times(1)), milliseconds: 900) == [2, 1, 0])
        #expect(sequence(timeline(.bounce, loops: .times(1)), milliseconds: 900) == [0, 1, 2, 1, 0])
        #expect(sequence(timeline(.bounce, loops: .times(2)), milliseconds: 900) == [0, 1, 2, 1, 0, 1, 2, 1, 0])
    }

    @Test("F03 a seek goes to a frame or a time in each order, and plays on from there")
    func seeks() {
        var forward = timeline()
        forward.seek(toFrame: 2)
        #expect(sequence(forward, milliseconds: 300) == [2, 0, 1, 2])
        forward.seek(toTime: .milliseconds(120))
        #expect(forward.frameIndex == 1 && forward.timeToNextFrame == .milliseconds(30))
        var reverse = timeline(.reverse)
        reverse.seek(toFrame: 1)
        #expect(sequence(reverse, milliseconds: 300) == [1, 0, 2, 1])
        var finished = timeline(loops: .times(1))
        finished.advance(by: .seconds(1))
        finished.seek(toFrame: 1)
        #expect(!finished.isFinished && sequence(finished, milliseconds: 500) == [1, 2])
        finished.seek(toFrame: 99)
        #expect(finished.frameIndex == 2)
        finished.seek(toFrame: -1)
        #expect(finished.frameIndex == 0)
    }

    @Test("F03 the next frames are those that are shown next, each once")
    func upcoming() {
        var forward = timeline()
        forward.advance(by: .milliseconds(120))
        #expect(forward.upcomingFrames(9) == [1, 2, 0] && forward.upcomingFrames(2) == [1, 2])
        #expect(timeline(.bounce).upcomingFrames(9) == [0, 1, 2])
        var last = timeline(loops: .times(1))
        last.advance(by: .milliseconds(120))
        #expect(last.upcomingFrames(9) == [1, 2])
        last.advance(by: .seconds(1))
        #expect(last.upcomingFrames(9) == [2])
    }

    @Test("F03 L10 time stands still behind the frames that have arrived, and goes on with more")
    func arriving() {
        var timeline = timeline(durations: [.milliseconds(100)], isComplete: false)
        timeline.advance(by: .seconds(5))
        #expect(timeline.isStalled && timeline.frameIndex == 0 && timeline.timeToNextFrame == nil)
        timeline.update(durations: Array(three.prefix(2)), encodedLoopCount: nil, isComplete: false)
        #expect(timeline.frameIndex == 1 && !timeline.isStalled)
        timeline.advance(by: .milliseconds(20))
        timeline.update(durations: three, encodedLoopCount: nil, isComplete: true)
        #expect(timeline.frameIndex == 1 && timeline.timeToNextFrame == .milliseconds(30))
        #expect(sequence(timeline, milliseconds: 200) == [1, 2, 0])
    }

    @Test("F03 what cannot play stays at its first frame, and frames without duration are left out")
    func impossible() {
        for durations in [[], [.seconds(1)], [.zero, .zero]] as [[Duration]] {
            var timeline = timeline(durations: durations)
            #expect(!timeline.advance(by: .seconds(3)) && timeline.frameIndex == 0 && timeline.timeToNextFrame == nil)
        }
        var timeline = timeline(durations: [.zero, .seconds(1), .seconds(-1), .seconds(1)])
        timeline.advance(by: .milliseconds(1))
        #expect(timeline.frameIndex == 1)
        timeline.advance(by: .seconds(1))
        #expect(timeline.frameIndex == 3)
    }
}
