import EideticCore
import Glibc

// A second process at a disk cache, for the tests in EideticStoreTests.
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
            let failures = try StressTest(settings).run()
            if failures.isEmpty { exit(0) }
            fail("\(failures.count) failures: \(failures.prefix(20).joined(separator: "; "))")
        }
    case "look": if arguments.count == 2 { exit(PermissionWorker(directory: arguments[1]).run()) }
    default: break
    }
    fail("arguments: kill|storm|look DIRECTORY …")
} catch {
    fail("\(error)")
}
