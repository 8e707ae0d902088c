import EideticCore
import EideticSupervision
import EideticSupervisor
import EideticTestSupport
import Glibc
import EideticLifecycle
import Testing

@Suite("Jobs of a terminal", .serialized, .timeLimit(.minutes(3)))
struct TerminalTests {
    /// A shell that starts the program as a job in the background of a terminal, and does `fg` at SIGUSR1.
    private static let shell = """
        import os, pty, signal, subprocess, sys
        child, terminal = pty.fork()
        if child == 0:
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            job = subprocess.Popen(sys.argv[1:], preexec_fn=os.setpgrp, stdout=subprocess.DEVNULL)
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
            signal.sigwait({signal.SIGUSR1})
            os.tcsetpgrp(0, job.pid)
            os.killpg(job.pid, signal.SIGCONT)
            job.wait()
        else:
            signal.pause()
        """

    @Test(
        "B02 a suspended job in the background of its terminal is continued by `eidetic app`, and by the shell's fg",
        arguments: [false, true]
    )
    func foreground(isReplaced: Bool) async throws {
        guard ControlGroups.unavailability == nil else { return }
        let daemon = try await Daemon(.group, ["--limit", "idle=10", "--limit", "terminal=50"])
        let shell = try Subprocess(
            "/usr/bin/python3",
            arguments: [
                "-c", Self.shell, Daemon.probe, "background", "--identifier", "job",
                "--supervisor-socket", daemon.directory.path(of: "run/supervisor"),
            ]
        )
        await daemon.expectState(.suspended, of: "job")
        try await daemon.resume("job")
        try await daemon.suspend("job")
        if isReplaced {
            try await daemon.replace()
            await daemon.expectState(.suspended, of: "job")
        }
        kill(try #require(ProcessStatus.all.first { $0.parent == shell.identifier }).identifier, SIGUSR1)
        await daemon.expectState(.active, of: "job")
        shell.kill()
        await daemon.finish()
    }
}
