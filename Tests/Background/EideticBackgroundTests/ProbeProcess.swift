import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// The probe, a real application in a process of its own.
struct ProbeProcess {
    let process: Subprocess

    /// The path of the executable, beside this test bundle.
    static var path: String {
        let program = realpath(CommandLine.arguments[0], nil).map { String(cString: $0) } ?? CommandLine.arguments[0]
        let directory = program.lastIndex(of: "/").map { String(program[..<$0]) } ?? "."
        return "\(directory)/eidetic-probe"
    }

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
    func finish() async -> (status: EideticTestSupport.ExitStatus, lines: [String], errors: String) {
        let result = await process.waitUntilExit()
        return (result.status, result.outputText.split(separator: "\n").map(String.init), result.errorText)
    }

    /// Waits until the kernel reports that the process is stopped.
    func waitUntilStopped() async {
        var information = siginfo_t()
        while waitid(P_PID, id_t(process.identifier), &information, WSTOPPED | WNOWAIT | WNOHANG) == 0,
            information.si_code != CLD_STOPPED
        { await Task.yield() }
    }
}
