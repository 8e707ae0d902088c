import EideticCore
import EideticTestSupport
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
        "F07 no message or file decides the depth of calls: each byte of the seeds is read 60,000 times",
        arguments: FuzzTarget.files + FuzzTarget.messages
    )
    func repetitions(_ target: FuzzTarget) throws {
        let bytes = Set(try target.seeds().filter { $0.count < 64 }.joined())
        for byte in bytes { target.run([UInt8](repeating: byte, count: Self.repetitionCount)) }
    }

    /// Values within values of this number would end a thread with the usual stack.
    private static let repetitionCount = 60_000

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
