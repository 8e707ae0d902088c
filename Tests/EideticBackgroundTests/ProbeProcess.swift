import EideticCore
import EideticTestSupport
import Glibc
import Testing

/// The probe, a real application in a process of its own.
struct ProbeProcess {
    let process: Subprocess

    /// The executable beside this test bundle.
    static var path: String {
        let program = realpath(CommandLine.arguments[0], nil).map { String(cString: $0) } ?? CommandLine.arguments[0]
        let directory = program.lastIndex(of: "/").map { String(program[..<$0]) } ?? "."
        return "\(directory)/EideticBackgroundProbe"
    }

    init(_ arguments: [String], environment: [String: String?] = [:]) throws(SystemError) {
        var environment = environment
        // Memory, login and service managers of this machine are none of the test's business.
        environment["NOTIFY_SOCKET"] = environment["NOTIFY_SOCKET"] ?? nil
        process = try Subprocess(Self.path, arguments: arguments, environment: environment)
    }

    /// Waits for a line of its output.
    func expectOutput(_ text: String, times: Int = 1, sourceLocation location: SourceLocation = #_sourceLocation) async
    {
        let came = await process.waitForOutput(text, times: times)
        #expect(came, "\"\(text)\" did not come, but: \(process.outputSoFar)", sourceLocation: location)
    }

    /// Waits for its end and gives the lines that it wrote.
    func finish() async -> (status: EideticTestSupport.ExitStatus, lines: [String], errors: String) {
        let result = await process.waitUntilExit()
        return (result.status, result.outputText.split(separator: "\n").map(String.init), result.errorText)
    }
}
