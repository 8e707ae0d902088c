import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// The probe, a real application in a process of its own.
struct ProbeProcess {
    typealias End = (status: EideticTestSupport.ExitStatus, lines: [String], errors: String)

    let process: Subprocess

    /// The path of the executable, beside this test bundle.
    static let path = BuiltProgram.path(of: "eidetic-probe")

    /// The program in a shell, before its options.
    static var command: String { "\(path) background" }

    init(_ arguments: [String], environment: [String: String?] = [:]) throws(SystemError) {
        var environment = environment
        // The service manager of this machine must not receive the test's messages.
        environment["NOTIFY_SOCKET"] = environment["NOTIFY_SOCKET"] ?? nil
        process = try Subprocess(Self.path, arguments: ["background"] + arguments, environment: environment)
    }

    /// Waits until the output contains a text a number of times.
    func expectOutput(_ text: String, times: Int = 1, sourceLocation location: SourceLocation = #_sourceLocation) async
    {
        let isFound = await process.waitForOutput(text, times: times)
        #expect(isFound, "\"\(text)\" is not in the output: \(process.outputSoFar)", sourceLocation: location)
    }

    /// Waits for the end of the process, and returns its status and output.
    func finish() async -> End {
        let result = await process.waitUntilExit()
        return (result.status, result.outputText.split(separator: "\n").map(String.init), result.errorText)
    }

    /// Waits, on a thread of its own, until the kernel reports that the process is stopped.
    func waitUntilStopped(sourceLocation location: SourceLocation = #_sourceLocation) async {
        let isStopped = await withCheckedContinuation { continuation in
            Thread.start(name: "stopped") { [process] in
                var information = siginfo_t()
                // An end counts too, so that the wait for a process that does not stop has one.
                while waitid(P_PID, id_t(process.identifier), &information, WSTOPPED | WEXITED | WNOWAIT) < 0,
                    errno == EINTR
                {}
                continuation.resume(returning: information.si_code == CLD_STOPPED)
            }
        }
        #expect(isStopped, "the process is not stopped: \(process.outputSoFar)", sourceLocation: location)
    }
}

extension String {
    /// Returns the number that follows a prefix; `nil` if the text has another beginning.
    func number(after prefix: String) -> Int? {
        guard hasPrefix(prefix) else { return nil }
        return Int(dropFirst(prefix.count).prefix { $0.isNumber || $0 == "-" })
    }
}
