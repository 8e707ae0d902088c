import EideticCodecs
import EideticCore
import Glibc

/// Decodes every file of a directory, each in a process of its own, and writes one line of JSON for each.
///
///     eidetic-conformance --dir DIR [--timeout SECONDS] > results.jsonl
@main
struct Main {
    static func main() {
        let arguments = CommandLine.arguments
        if arguments.count == 3, arguments[1] == "--one" {
            limitThisProcess()
            print(FileReport(path: arguments[2]).json)
            return
        }
        guard let directory = value(of: "--dir", in: arguments) else {
            let usage = "usage: eidetic-conformance --dir DIR [--timeout SECONDS]\n"
            write(2, usage, usage.utf8.count)
            exit(64)
        }
        let timeout = value(of: "--timeout", in: arguments).flatMap(Int.init) ?? 30
        for path in files(below: directory) {
            let outcome = ChildProcess.run(arguments: ["--one", directory + "/" + path], timeout: .seconds(timeout))
            print(outcome.json(path: path))
        }
    }

    private static func value(of option: String, in arguments: [String]) -> String? {
        guard let index = arguments.firstIndex(of: option), index + 1 < arguments.count else { return nil }
        return arguments[index + 1]
    }

    /// Limits this process to 2 GiB of memory and a minute of processor time.
    private static func limitThisProcess() {
        var memory = rlimit(rlim_cur: 2 << 30, rlim_max: 2 << 30)
        setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &memory)
        var time = rlimit(rlim_cur: 60, rlim_max: 60)
        setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &time)
    }

    /// Returns the sorted paths of all regular files below a directory, relative to it; skips hidden files.
    private static func files(below directory: String, prefix: String = "") -> [String] {
        let system = FileSystem()
        var found: [String] = []
        for name in (try? system.entryNames(in: directory + "/" + prefix)) ?? [] where !name.hasPrefix(".") {
            switch try? system.linkStatus(of: directory + "/" + prefix + name).kind {
            case .directory: found += files(below: directory, prefix: prefix + name + "/")
            case .regular: found.append(prefix + name)
            default: break
            }
        }
        return found.sorted()
    }
}
