import EideticCore
import Glibc

// Works at a disk cache as another process: the other side of the proofs in EideticStoreTests.
func fail(_ line: String) -> Never {
    let bytes = Array("eidetic-disk-worker: \(line)\n".utf8)
    _ = write(2, bytes, bytes.count)
    exit(1)
}

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    switch arguments.first {
    case "kill": if let settings = CrashTestSettings(arguments) { try CrashTestWorker(settings: settings).run() }
    case "storm":
        if let settings = StressTestSettings(arguments) {
            let mistakes = try StressTest(settings).run()
            if mistakes.isEmpty { exit(0) }
            fail("\(mistakes.count) mistakes: \(mistakes.prefix(20).joined(separator: "; "))")
        }
    case "look": if arguments.count == 2 { exit(PermissionWorker(directory: arguments[1]).run()) }
    default: break
    }
    fail("arguments: kill|storm|look DIRECTORY …")
} catch {
    fail("\(error)")
}
