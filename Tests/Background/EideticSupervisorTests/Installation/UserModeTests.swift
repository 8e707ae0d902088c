import EideticCore
import EideticSupervisor
import EideticTestSupport
import Glibc
import Testing

/// The supervisor of an ordinary user, without systemd, in a control group that the user owns, and without one.
@Suite("The supervisor of an ordinary user", .serialized, .timeLimit(.minutes(3)))
struct UserModeTests {
    /// The reason why another user cannot be used here; `nil` if it can.
    static let obstacle: String? = {
        if geteuid() != 0 { return "changing the user needs root" }
        for program in ["setpriv", "unshare"] where Subprocess.executablePath(for: program) == nil {
            return "\(program) is not installed"
        }
        if system("unshare --pid --mount --fork --mount-proc true 2>/dev/null") != 0 { return "no namespaces" }
        return ControlGroups.unavailability
    }()

    @Test(
        "B05 an ordinary user's applications are launched, suspended, taken over and ended",
        arguments: [true, false]
    )
    func lifecycle(isDelegated: Bool) async throws {
        if let obstacle = Self.obstacle { return print("skipped: \(obstacle)") }
        let programs = try await InstalledPrograms()
        let script = Self.script(programs, parent: try ControlGroups.parent().path, isDelegated: isDelegated)
        try programs.directory.write(Array(script.utf8), to: "script")
        let result = try await Subprocess.run(
            "timeout",
            arguments: [
                "-s", "KILL", "100", "unshare", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child", "bash",
                programs.path(of: "script"),
            ]
        )
        print(result.outputText)
        let freezer = isDelegated ? "cgroup2" : "sigstop"
        #expect(
            result.outputText.split(separator: "\n") == [
                "user 61234, freezer \(freezer), stopped yes", "continued", "taken over: same yes", "suspended again",
                "another user: refused", "ended, 0 groups left, supervisor status 0",
            ],
            "\(result.errorText)"
        )
    }

    private static func script(_ programs: InstalledPrograms, parent: String, isDelegated: Bool) -> String {
        """
        \(programs.functions)
        who=\(InstalledPrograms.user)
        home=$programs/home
        run=$home/run
        install -d -o $who -g $who $home
        group=\(parent)/user-\(UInt32.random(in: 0...UInt32.max))
        if \(isDelegated); then
            mkdir $group $group/session
            chown -R $who:$who $group
            echo $$ > $group/session/cgroup.procs
        fi
        clean() {
            echo $$ > \(parent)/cgroup.procs
            [ -d $group ] || return
            echo 1 > $group/cgroup.kill
            find $group -depth -type d -exec sh -c 'until rmdir {} 2>/dev/null; do sleep 0.02; done' \\;
        }
        trap clean EXIT
        stopped() {
            if \(isDelegated); then
                grep -q 'frozen 1' \(Self.mountPoint)$(group $1)/cgroup.events && echo yes
            else
                [ $(state $1) = T ] && echo yes
            fi
        }
        become $who $programs/eideticd --keeper --limit idle=10 --runtime-directory $run --state-directory $home/state \\
            >$home/output 2>&1 &
        keeper=$!
        retry test -S $run/control
        app launch one $programs/probe supervised
        expect one active
        app background one
        expect one suspended
        process=$(field one process)
        echo "user $(stat -c %u /proc/$process), freezer $(field one freezer), stopped $(stopped $process)"
        app foreground one
        expect one active
        echo continued
        kill -9 $(cat /proc/$keeper/task/$keeper/children)
        retry accepted background one
        expect one suspended
        echo "taken over: same $([ $(field one process) = $process ] && echo yes)"
        retry accepted foreground one
        expect one active
        app background one
        expect one suspended
        echo "suspended again"
        become 61235 env EIDETIC_RUNTIME_DIR=$run $programs/eidetic app list >/dev/null 2>&1 || echo "another user: refused"
        app quit --force one
        expect one notRunning
        gone() { [ -z "$(find $group -name 'one@*' 2>/dev/null)" ]; }
        retry gone
        kill $keeper
        wait $keeper
        echo "ended, $(find $group -name 'one@*' 2>/dev/null | wc -l) groups left, supervisor status $?"
        """
    }

    /// The mount point of the hierarchy.
    private static let mountPoint: String = {
        let mounts = KernelFile.read("/proc/self/mountinfo") ?? ""
        let line = mounts.split(separator: "\n").first { $0.contains(" - cgroup2 ") }
        return line?.split(separator: " ").dropFirst(4).first.map(String.init) ?? "/sys/fs/cgroup"
    }()
}
