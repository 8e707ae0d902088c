import EideticBackground
import EideticCore
import EideticProbeWords
import Glibc

/// Threads that open and close background tasks at random, and mark in the shared file that they are inside one.
struct MarkedStorm: Sendable {
    let words: SharedWords
    let application: Application

    func start() {
        for number in 0..<ProbeWord.stormThreads { Thread.start(name: "storm") { run(number) } }
    }

    private func run(_ number: Int) {
        let mark = ProbeWord.mark(ofThread: number)
        var random = SystemRandomNumberGenerator()
        var total: UInt64 = 0
        while true {
            let task = application.beginBackgroundTask(withName: "storm")
            if task != .invalid {
                words[mark] = 1
                work(Int.random(in: 0...2_000, using: &random), total: &total)
                words[mark] = 0
                application.endBackgroundTask(task)
            }
            // Mostly idle, so that the count is often zero.
            if Int.random(in: 0...1, using: &random) == 0 { usleep(UInt32.random(in: 0...2_000, using: &random)) }
        }
    }

    @inline(never)
    private func work(_ rounds: Int, total: inout UInt64) {
        for round in 0..<rounds { total = total &* 31 &+ UInt64(round) }
    }
}
