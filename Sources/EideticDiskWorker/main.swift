import Glibc

// Works at a disk cache until it is killed: the other side of the proofs in EideticStoreTests.
func report(_ line: String) -> Never {
    let bytes = Array("eidetic-disk-worker: \(line)\n".utf8)
    _ = write(2, bytes, bytes.count)
    exit(1)
}

guard let settings = KillSettings(Array(CommandLine.arguments.dropFirst())) else {
    report("arguments: DIRECTORY JOURNAL LIMIT WORKER SEED")
}
do { try KillWorker(settings: settings).run() } catch { report("\(error)") }
