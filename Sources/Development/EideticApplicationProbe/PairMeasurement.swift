import EideticBackground
import EideticCore
import EideticProbeWords
import Glibc

/// Measures pairs of begin and end in the supervised application, and in one without a supervisor, alternately.
struct PairMeasurement: Sendable {
    let words: SharedWords
    let application: Application

    private static let pairs = 20_000

    func start() {
        Thread.start(name: "pairs") {
            let alone = Application()
            for sample in 0..<ProbeWord.pairSamples {
                let supervised = time {
                    application.endBackgroundTask(application.beginBackgroundTask(named: "pair") {})
                }
                let unsupervised = time { alone.endBackgroundTask(alone.beginBackgroundTask(named: "pair") {}) }
                words[ProbeWord.pairs(sample, isSupervised: true)] = supervised
                words[ProbeWord.pairs(sample, isSupervised: false)] = unsupervised
            }
            printLine("measured pairs")
        }
    }

    /// Returns the time of a pair in picoseconds.
    @inline(__always)
    private func time(_ pair: () -> Void) -> UInt64 {
        let start = currentTime
        for _ in 0..<Self.pairs { pair() }
        return (currentTime - start) * 1_000 / UInt64(Self.pairs)
    }
}

/// Opens and closes tasks one after the other, and prints what is left of them.
struct PairCount: Sendable {
    let count: Int
    let application: Application

    func start() {
        Thread.start(name: "pairs") {
            // The first pairs allocate what is kept.
            run(1_000)
            let before = ProcessResources.current
            run(count)
            let after = ProcessResources.current
            printLine("pairs \(count) descriptors \(after.descriptors - before.descriptors)")
            printLine("kilobytes \(after.kilobytes - before.kilobytes)")
        }
    }

    private func run(_ count: Int) {
        for _ in 0..<count { application.endBackgroundTask(application.beginBackgroundTask(withName: "pair") {}) }
    }
}
