import CFuzz
import Glibc

/// The fuzzer of `script/fuzz`: `EIDETIC_FUZZ_TARGET` names the target; the arguments are those of libFuzzer.
@main
struct Main {
    private static let target: FuzzTarget? =
        getenv("EIDETIC_FUZZ_TARGET").flatMap { FuzzTarget.named(String(cString: $0)) }

    static func main() throws {
        if CommandLine.arguments.dropFirst().first == "--list" {
            for target in FuzzTarget.all { print(target.name) }
            return
        }
        guard let target else { fatalError("EIDETIC_FUZZ_TARGET names no target; see script/fuzz --list") }
        if CommandLine.arguments.dropFirst().first == "--sources" {
            for path in target.sources { print("Sources/\(path)") }
            return
        }
        if CommandLine.arguments.dropFirst().first == "--seeds" {
            return try FuzzCorpus.write(for: target, to: CommandLine.arguments[2])
        }
        exit(fuzz(target))
    }

    /// Runs libFuzzer until it ends.
    private static func fuzz(_ target: FuzzTarget) -> Int32 {
        var words = [strdup(CommandLine.arguments[0]), strdup("-max_len=\(target.maximumLength)")]
        words += CommandLine.arguments.dropFirst().map { strdup($0) }
        var count = Int32(words.count)
        return words.withUnsafeMutableBufferPointer { words in
            var start = words.baseAddress
            return LLVMFuzzerRunDriver(&count, &start) { bytes, count in
                Main.target?.run(Array(UnsafeBufferPointer(start: bytes, count: count)))
                return 0
            }
        }
    }
}
