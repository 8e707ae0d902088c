import EideticTestSupport
import Glibc
import Testing

/// System notices in a real application.
@Suite("System notices", .timeLimit(.minutes(2)))
struct NoticeSourceTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory(named: "notices")
        try directory.write([], to: "etc/default/locale")
        try directory.write(Array("theme=light\n".utf8), to: "settings/app.conf")
        _ = symlink("/usr/share/zoneinfo/UTC", directory.path(of: "etc/localtime"))
    }

    private func startProbe(observing names: String..., option: String = "--observe", handlingFor: Int = 0) async throws
        -> ProbeProcess
    {
        let options = [
            "--notice-work", "\(handlingFor)", "--observer-limit", handlingFor > 1_000 ? "1000" : "5000",
            "--system-directory", directory.path(of: "etc"), "--settings", directory.path(of: "settings/app.conf"),
        ]
        let probe = try ProbeProcess(options + names.flatMap { [option, $0] })
        for name in names { await probe.expectOutput("observes \(name)") }
        await probe.expectOutput("state active")
        return probe
    }

    /// Replaces the link, as `timedatectl` does.
    private func setTimeZone(_ name: String) {
        let temporary = directory.path(of: "etc/.new")
        _ = symlink("/usr/share/zoneinfo/\(name)", temporary)
        rename(temporary, directory.path(of: "etc/localtime"))
    }

    private func terminate(_ probe: ProbeProcess) async -> [String] {
        probe.process.kill(SIGTERM)
        let end = await probe.finish()
        #expect(end.status == .exited(0), "\(end.errors)")
        return end.lines
    }

    @Test("B08 changes of the time zone, the language and the settings are posted while the application runs")
    func running() async throws {
        let probe = try await startProbe(observing: "timeZoneChanged", "localeChanged", "settingsChanged")
        setTimeZone("Europe/Berlin")
        await probe.expectOutput("notice timeZoneChanged  identifier=Europe/Berlin count 1")
        try directory.write(Array("LANG=de_DE.UTF-8\n".utf8), to: "etc/default/locale")
        await probe.expectOutput("notice localeChanged  count 1")
        try directory.write(Array("theme=dark\n".utf8), to: "settings/app.conf")
        await probe.expectOutput("notice settingsChanged \(directory.path(of: "settings/app.conf")) count 1")
        // A change of another file in the directory posts no notice.
        try directory.write([1], to: "settings/other.conf")
        #expect(await terminate(probe).filter { $0.hasPrefix("notice settingsChanged") }.count == 1)
    }

    @Test("B08 changes during suspension are delivered as one notice on return")
    func stopped() async throws {
        let probe = try await startProbe(observing: "timeZoneChanged", "settingsChanged")
        probe.process.kill(SIGTSTP)
        await probe.expectOutput("didEnterBackground")
        await probe.waitUntilStopped()
        for zone in ["Europe/Berlin", "Asia/Tokyo", "America/Lima"] { setTimeZone(zone) }
        for theme in ["dark", "light", "blue"] {
            try directory.write(Array("theme=\(theme)\n".utf8), to: "settings/app.conf")
        }
        probe.process.kill(SIGCONT)
        for name in ["timeZoneChanged", "settingsChanged"] { await probe.expectOutput("notice \(name)") }
        let lines = await terminate(probe)
        let notices = lines.filter { $0.hasPrefix("notice") }
        #expect(notices.count == 2, "\(notices)")
        let returned = try #require(lines.firstIndex(of: "willEnterForeground background"))
        #expect(lines.lastIndex { $0.hasPrefix("notice") }.map { $0 < returned } ?? false, "\(lines)")
        #expect(notices.contains("notice timeZoneChanged  identifier=America/Lima count 1"), "\(notices)")
    }

    @Test("B08 an observer that drops notices receives none of those posted during suspension")
    func dropped() async throws {
        let probe = try await startProbe(observing: "settingsChanged", option: "--observe-dropping")
        probe.process.kill(SIGTSTP)
        await probe.expectOutput("didEnterBackground")
        await probe.waitUntilStopped()
        try directory.write(Array("theme=dark\n".utf8), to: "settings/app.conf")
        probe.process.kill(SIGCONT)
        await probe.expectOutput("didBecomeActive active", times: 2)
        try directory.write(Array("theme=blue\n".utf8), to: "settings/app.conf")
        await probe.expectOutput("notice settingsChanged")
        #expect(await terminate(probe).filter { $0.hasPrefix("notice") }.count == 1)
    }

    @Test("B02 B08 a callback waits until the observers have handled the notices of the suspension, for at most 5 s")
    func noticesFirst() async throws {
        for handling in [300, 60_000] {
            let probe = try await startProbe(observing: "settingsChanged", handlingFor: handling)
            probe.process.kill(SIGTSTP)
            await probe.expectOutput("didEnterBackground")
            await probe.waitUntilStopped()
            try directory.write(Array("theme=dark\(handling)\n".utf8), to: "settings/app.conf")
            probe.process.kill(SIGCONT)
            await probe.expectOutput("didBecomeActive active", times: 2)
            let lines = await terminate(probe).filter { $0.hasPrefix("handled") || $0.hasPrefix("willEnter") }
            #expect(lines == (handling == 300 ? ["handled", "willEnterForeground background"] : lines.suffix(1)))
            #expect(lines.last == "willEnterForeground background")
        }
    }

    @Test("B05 B08 termination does not wait for observers of notices that were held")
    func terminatesDuringNotices() async throws {
        let settings = directory.path(of: "settings/app.conf"), terminal = try Terminal()
        let options = "--notice-work 60000 --settings \(settings) --observe settingsChanged"
        terminal.type("\(ProbeProcess.command) \(options) >&3\n")
        #expect(await terminal.shell.waitForOutput("state active"))
        terminal.type(TerminalTests.controlZ)
        #expect(await terminal.shell.waitForOutput("didEnterBackground"))
        terminal.type("jobs >&3\n")
        #expect(await terminal.shell.waitForOutput("Stopped"))
        try directory.write(Array("theme=dark\n".utf8), to: "settings/app.conf")
        // No callback follows: the application was in the background before.
        terminal.type("bg >&3\n")
        #expect(await terminal.shell.waitForOutput("notice settingsChanged"))
        terminal.type("kill %1; wait %1; echo status $? >&3; exit\n")
        #expect(await terminal.shell.waitForOutput("status 0"), "\(terminal.shell.outputSoFar)")
        #expect(terminal.shell.outputSoFar.contains("willTerminate"))
    }

    @Test("B06 a stopped application that is continued and terminated at once is not killed")
    func continuedAndTerminated() async throws {
        for round in 0..<Torture.repetitions(20, full: 300) {
            let probe = try await startProbe()
            probe.process.kill(SIGTSTP)
            await probe.waitUntilStopped()
            probe.process.kill(SIGCONT)
            probe.process.kill(round.isMultiple(of: 2) ? SIGTERM : SIGHUP)
            let end = await probe.finish()
            #expect(end.status == .exited(0), "round \(round): \(end.errors)")
            #expect(end.lines.contains { $0.hasPrefix("willTerminate") })
        }
    }

    static let hasNetworks = system("unshare --net ip link add eidetic0 type veth peer name eidetic1 2>/dev/null") == 0

    @Test(
        "B08 connecting and disconnecting an interface is posted; one with only a link-local address is not",
        .enabled(if: hasNetworks, "skipped: needs root, network namespaces, virtual interfaces, and ip (iproute2)")
    )
    func connectivity() async throws {
        // The shell carries out the commands of a pipe. A signal would be lost between a trap and the next `wait`.
        let commands = directory.path(of: "commands")
        #expect(mkfifo(commands, 0o600) == 0)
        let pipe = open(commands, O_RDWR | O_CLOEXEC)
        defer { close(pipe) }
        func order(_ command: String) { write(pipe, command + "\n", command.utf8.count + 1) }
        let script = """
            ip link add eidetic0 type veth peer name eidetic1; ip link set eidetic0 up; ip link set eidetic1 up
            \(ProbeProcess.command) --observe connectivityChanged & probe=$!
            while read -r command && [ "$command" != end ]; do $command; done <"$0"
            kill $probe; wait $probe; echo status $?
            """
        let shell = try Subprocess("unshare", arguments: ["--net", "bash", "-c", script, commands])
        #expect(await shell.waitForOutput("observes connectivityChanged"))
        #expect(await shell.waitForOutput("state active"))
        order("ip address add 192.0.2.1/24 dev eidetic0")
        #expect(await shell.waitForOutput("notice connectivityChanged  interfaces=eidetic0 isConnected=true count 1"))
        order("ip link set eidetic0 down")
        #expect(await shell.waitForOutput("notice connectivityChanged  interfaces= isConnected=false count 1"))
        order("end")
        #expect(await shell.waitUntilExit().outputText.contains("status 0"))
    }
}
