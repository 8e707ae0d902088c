import CLinux
import EideticCore
import EideticTestSupport
import Glibc
import Testing

@Suite("Inputs that fuzzing found", .timeLimit(.minutes(5)))
struct ReplayTests {
    @Test("F07 each input that once broke a parser or decoder is read", arguments: FuzzTarget.all)
    func found(_ target: FuzzTarget) throws {
        for input in try FuzzCorpus.found(for: target) { target.run(input.bytes) }
    }

    @Test("F07 each folder of found inputs belongs to a target") func folders() throws {
        let folders = try FileSystem().entryNames(in: FuzzCorpus.foundDirectory).filter { !$0.hasSuffix(".md") }
        for folder in folders { #expect(FuzzTarget.named(folder) != nil, "\(folder)") }
    }

    @Test("F07 each target names the files of its parser, whose coverage is measured", arguments: FuzzTarget.all)
    func sources(_ target: FuzzTarget) {
        let root = #filePath.split(separator: "/Tests/", maxSplits: 1)[0]
        #expect(!target.sources.isEmpty)
        for path in target.sources {
            #expect(throws: Never.self) { try FileSystem().status(of: "\(root)/Sources/\(path)") }
        }
    }

    @Test("F07 mutations of the seeds are read: bits, lengths and ends", arguments: FuzzTarget.all)
    func mutations(_ target: FuzzTarget) throws {
        var numbers = SplitMix(state: 28)
        for seed in try target.seeds() {
            target.run(seed)
            for _ in 0..<Torture.repetitions(50, full: 20_000) { target.run(Self.mutate(seed, with: &numbers)) }
        }
    }

    @Test(
        "F07 no input decides the depth of calls: seeds, and beginnings of seeds, go on with their next bytes for ever",
        arguments: FuzzTarget.all
    )
    func repetitions(_ target: FuzzTarget) async throws {
        let seeds = try target.seeds() + FuzzCorpus.found(for: target).map(\.bytes) + FuzzCorpus.images(for: target)
        let isMessage = FuzzTarget.messages.contains { $0.name == target.name }
        await SmallStack.run {
            var numbers = SplitMix(state: 60)
            for _ in 0..<Torture.repetitions(isMessage ? 30 : 2, full: 2_000) {
                guard let seed = seeds.randomElement(using: &numbers), !seed.isEmpty else { continue }
                let input = Self.endless(seed, with: &numbers)
                for input in [input, Array(input.prefix(target.maximumLength))] {
                    target.run(input)
                    // The first byte of a message selects its type: all types get the bytes of each.
                    if isMessage { for type: UInt8 in 0..<7 { target.run([type] + input.dropFirst()) } }
                }
            }
        }
    }

    /// Returns the beginning of a seed, and its next 1 to 8 bytes 60,000 times.
    private static func endless(_ seed: [UInt8], with numbers: inout SplitMix) -> [UInt8] {
        let start = Int.random(in: seed.indices, using: &numbers)
        let unit = seed[start...].prefix(Int.random(in: 1...8, using: &numbers))
        return Array(seed[..<start]) + [[UInt8]](repeating: Array(unit), count: 60_000).joined()
    }

    /// Changes, removes and repeats bytes.
    private static func mutate(_ bytes: [UInt8], with numbers: inout SplitMix) -> [UInt8] {
        var bytes = bytes
        for _ in 0...Int.random(in: 0..<3, using: &numbers) where !bytes.isEmpty {
            let place = Int.random(in: bytes.indices, using: &numbers)
            switch Int.random(in: 0..<4, using: &numbers) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
            case 1: bytes.removeLast(bytes.count - place)
            case 2: bytes.insert(contentsOf: bytes[place...].prefix(16), at: place)
            default: bytes.replaceSubrange(place..<min(place + 4, bytes.count), with: [255, 255, 255, 255])
            }
        }
        return bytes
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    var testDescription: String { name }
}

/// A thread whose stack holds fewer calls within each other than a message of 4,096 bytes has values within values.
private enum SmallStack {
    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    static func run(_ body: @escaping @Sendable () -> Void) async {
        await withCheckedContinuation { continuation in
            var attributes = pthread_attr_t(), thread: pthread_t = 0
            pthread_attr_init(&attributes)
            pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
            pthread_attr_setstacksize(&attributes, 512 << 10)
            let work = Work {
                body()
                continuation.resume()
            }
            let error = pthread_create(
                &thread,
                &attributes,
                { argument in
                    argument.map { Unmanaged<Work>.fromOpaque($0).takeRetainedValue().body() }
                    return nil
                },
                Unmanaged.passRetained(work).toOpaque()
            )
            precondition(error == 0, "no thread")
        }
    }
}
