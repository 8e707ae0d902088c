import EideticTestSupport
import Glibc
import Testing

/// News of the system, as a real application gets it.
@Suite("News from the system", .timeLimit(.minutes(2)))
struct NoticeSourceTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory("news")
        try directory.write([], to: "etc/default/locale")
        try directory.write(Array("theme=light\n".utf8), to: "settings/app.conf")
        _ = symlink("/usr/share/zoneinfo/UTC", directory.path("etc/localtime"))
    }

    private func probe(_ names: String..., behavior: String = "--observe") async throws -> ProbeProcess {
        let places = ["--system-directory", directory.path("etc"), "--settings", directory.path("settings/app.conf")]
        let probe = try ProbeProcess(places + names.flatMap { [behavior, $0] })
        for name in names { await probe.expects("observes \(name)") }
        await probe.expects("state active")
        return probe
    }

    /// As `timedatectl` does it: a new link takes the place of the old one.
    private func setZone(_ name: String) {
        let temporary = directory.path("etc/.new")
        _ = symlink("/usr/share/zoneinfo/\(name)", temporary)
        rename(temporary, directory.path("etc/localtime"))
    }

    private func end(_ probe: ProbeProcess) async -> [String] {
        probe.process.kill(SIGTERM)
        let end = await probe.lines()
        #expect(end.status == .exited(0), "\(end.errors)")
        return end.lines
    }

    @Test("B08 another time zone, another language and other settings are told while the application runs")
    func running() async throws {
        let probe = try await probe("timeZoneChanged", "localeChanged", "settingsChanged")
        setZone("Europe/Berlin")
        await probe.expects("notice timeZoneChanged  identifier=Europe/Berlin count 1")
        try directory.write(Array("LANG=de_DE.UTF-8\n".utf8), to: "etc/default/locale")
        await probe.expects("notice localeChanged  count 1")
        try directory.write(Array("theme=dark\n".utf8), to: "settings/app.conf")
        await probe.expects("notice settingsChanged \(directory.path("settings/app.conf")) count 1")
        // A neighbour is nobody's news.
        try directory.write([1], to: "settings/other.conf")
        #expect(await end(probe).filter { $0.hasPrefix("notice settingsChanged") }.count == 1)
    }

    @Test("B08 what changes while the process is stopped comes as one net change, when it goes on")
    func stopped() async throws {
        let probe = try await probe("timeZoneChanged", "settingsChanged")
        probe.process.kill(SIGTSTP)
        await probe.expects("didEnterBackground")
        await stopped(probe)
        for zone in ["Europe/Berlin", "Asia/Tokyo", "America/Lima"] { setZone(zone) }
        for theme in ["dark", "light", "blue"] {
            try directory.write(Array("theme=\(theme)\n".utf8), to: "settings/app.conf")
        }
        probe.process.kill(SIGCONT)
        for name in ["timeZoneChanged", "settingsChanged"] { await probe.expects("notice \(name)") }
        let notices = await end(probe).filter { $0.hasPrefix("notice") }
        #expect(notices.count == 2, "\(notices)")
        #expect(notices.contains("notice timeZoneChanged  identifier=America/Lima count 1"), "\(notices)")
    }

    @Test("B08 who wants it dropped is not told of what changed while the process was stopped")
    func dropped() async throws {
        let probe = try await probe("settingsChanged", behavior: "--observe-dropping")
        probe.process.kill(SIGTSTP)
        await probe.expects("didEnterBackground")
        await stopped(probe)
        try directory.write(Array("theme=dark\n".utf8), to: "settings/app.conf")
        probe.process.kill(SIGCONT)
        await probe.expects("didBecomeActive active", times: 2)
        try directory.write(Array("theme=blue\n".utf8), to: "settings/app.conf")
        await probe.expects("notice settingsChanged")
        #expect(await end(probe).filter { $0.hasPrefix("notice") }.count == 1)
    }

    static let hasNetworks = system("unshare --net ip link add eidetic0 type veth peer name eidetic1 2>/dev/null") == 0

    @Test(
        "B08 an interface that is connected, and one that is lost, are told; one that has only its own link is not",
        .enabled(if: hasNetworks, "skipped: needs root, network namespaces, virtual interfaces, and ip (iproute2)")
    )
    func connectivity() async throws {
        // The shell changes the network of its namespace when it is told to, by a signal. A `wait` that finds a signal
        // still noted tells of that one, and not of the process: it is asked again.
        let script = """
            ip link add eidetic0 type veth peer name eidetic1; ip link set eidetic0 up; ip link set eidetic1 up
            \(ProbeProcess.path) --observe connectivityChanged & probe=$!
            trap 'kill $probe; wait $probe || wait $probe; echo status $?; exit' TERM
            trap 'ip address add 192.0.2.1/24 dev eidetic0' USR1
            trap 'ip link set eidetic0 down' USR2
            while :; do wait; done
            """
        let shell = try Subprocess("unshare", ["--net", "bash", "-c", script])
        #expect(await shell.waitForOutput("observes connectivityChanged"))
        #expect(await shell.waitForOutput("state active"))
        shell.kill(SIGUSR1)
        #expect(await shell.waitForOutput("notice connectivityChanged  interfaces=eidetic0 isConnected=true count 1"))
        shell.kill(SIGUSR2)
        #expect(await shell.waitForOutput("notice connectivityChanged  interfaces= isConnected=false count 1"))
        shell.kill(SIGTERM)
        #expect(await shell.finish().outputText.contains("status 0"))
    }

    /// Waits until the kernel says that the process is stopped.
    private func stopped(_ probe: ProbeProcess) async {
        var information = siginfo_t()
        while waitid(P_PID, id_t(probe.process.identifier), &information, WSTOPPED | WNOWAIT | WNOHANG) == 0,
            information.si_code != CLD_STOPPED
        { await Task.yield() }
    }
}
