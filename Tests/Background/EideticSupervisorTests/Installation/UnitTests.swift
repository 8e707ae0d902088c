import EideticCore
import EideticSupervisor
import EideticTestSupport
import Glibc
import Testing

/// The units of Resources/systemd, started by a real systemd in namespaces, unchanged, with the programs in `/usr/bin`.
@Suite("The units of systemd", .serialized, .timeLimit(.minutes(5)))
struct UnitTests {
    /// The reason why systemd cannot be started here; `nil` if it can.
    static let obstacle: String? = {
        if let obstacle = UserModeTests.obstacle { return obstacle }
        if access("/lib/systemd/systemd", X_OK) != 0 { return "systemd is not installed" }
        return nil
    }()

    private static let units: String = {
        let file = #filePath
        let parts = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(5)
        return parts.joined(separator: "/") + "/Resources/systemd"
    }()

    @Test(
        "B05 started by systemd, killed, started again, and released after the start limit",
        arguments: ["system", "user"]
    )
    func units(mode: String) async throws {
        if let obstacle = Self.obstacle { return print("skipped: \(obstacle)") }
        let programs = try await InstalledPrograms()
        try programs.directory.write(Array(Self.driver(programs, mode: mode).utf8), to: "driver")
        let first = Self.firstProcess(programs, parent: try ControlGroups.parent().path)
        try programs.directory.write(Array(first.utf8), to: "first")
        let result = try await Subprocess.run("bash", arguments: [programs.path(of: "first")])
        let output = String(decoding: (try? programs.directory.contents(of: "output")) ?? [], as: UTF8.self)
        let starts = String(decoding: (try? programs.directory.contents(of: "starts")) ?? [], as: UTF8.self)
        print(output)
        #expect(
            output.split(separator: "\n") == [
                "started: active", "freezer cgroup2, frozen 1, in the group of the unit",
                "killed: suspended, same yes", "restarted: active, same yes", "suspended again: frozen 1",
                "start limit: failed", "released: frozen 0, same yes",
            ],
            "\(result.errorText)\n\(starts)"
        )
    }

    /// The script that makes a control group and namespaces, and becomes systemd in them.
    private static func firstProcess(_ programs: InstalledPrograms, parent: String) -> String {
        """
        group=\(parent)/units-\(UInt32.random(in: 0...UInt32.max))
        mkdir $group && echo $$ > $group/cgroup.procs || exit 1
        timeout -s KILL 150 unshare --pid --mount --fork --mount-proc --cgroup --uts --ipc --kill-child bash -ec '
            mount --make-rprivate /
            mount -t tmpfs tmpfs /run
            mkdir -p /run/systemd/system /run/lock /run/bin/upper /run/bin/work
            mount -t overlay overlay -o lowerdir=/usr/bin,upperdir=/run/bin/upper,workdir=/run/bin/work /usr/bin
            cp \(programs.directory.path)/eideticd /usr/bin/eideticd
            mount -t tmpfs tmpfs /sys/fs/cgroup && umount /sys/fs/cgroup
            mount -t cgroup2 cgroup2 /sys/fs/cgroup
            cp \(units)/system/* /run/systemd/system/
            for target in sysinit basic shutdown multi-user; do
                printf "[Unit]\\nDefaultDependencies=no\\n" > /run/systemd/system/$target.target
            done
            printf "[Unit]\\nDefaultDependencies=no\\nWants=driver.service\\n" > /run/systemd/system/test.target
            printf "[Unit]\\nDefaultDependencies=no\\n[Service]\\nType=oneshot\\nExecStart=/bin/bash %s\\n" \\
                \(programs.directory.path)/driver > /run/systemd/system/driver.service
            exec env -i PATH=$PATH container=eidetic SYSTEMD_UNIT_PATH=/run/systemd/system /lib/systemd/systemd \\
                --system --unit=test.target --log-target=null --show-status=0 </dev/null >/dev/null 2>&1
        '
        echo $$ > \(parent)/cgroup.procs
        echo 1 > $group/cgroup.kill
        find $group -depth -type d -exec sh -c 'until rmdir {} 2>/dev/null; do sleep 0.02; done' \\;
        """
    }

    /// Starts the manager of a user as `user@.service` does, with an account that exists only here.
    private static let userManager = """
        who=\(InstalledPrograms.user)
        home=/run/home
        for file in passwd group; do cp /etc/$file /run/$file; done
        echo "eidetic:x:$who:$who::$home:/bin/sh" >> /run/passwd
        echo "eidetic:x:$who:" >> /run/group
        for file in passwd group; do mount --bind /run/$file /etc/$file; done
        install -d -o $who -g $who $home /run/user /run/user/$who $home/.config $home/.config/systemd
        install -d -o $who -g $who $home/.config/systemd/user
        install -o $who -g $who -m 644 \(units)/user/* $home/.config/systemd/user/
        printf '%s\\n' '[Unit]' DefaultDependencies=no '[Service]' User=eidetic Type=notify 'Delegate=pids memory cpu' \\
            Environment=XDG_RUNTIME_DIR=/run/user/$who Environment=HOME=$home \\
            'ExecStart=/lib/systemd/systemd --user' > /run/systemd/system/manager.service
        systemctl daemon-reload
        systemctl start manager
        run=/run/user/$who/eidetic
        control() { become $who env XDG_RUNTIME_DIR=/run/user/$who HOME=$home systemctl --user "$@"; }

        """

    private static let systemManager = """
        who=root
        run=/run/eidetic
        control() { systemctl "$@"; }

        """

    private static func driver(_ programs: InstalledPrograms, mode: String) -> String {
        """
        exec >\(programs.directory.path)/output 2>&1
        trap 'systemctl --force --force poweroff >/dev/null 2>&1' EXIT
        \(programs.functions)
        \(mode == "user" ? userManager : systemManager)
        control enable --now eideticd 2>/dev/null
        retry test -S $run/control
        echo "started: $(control is-active eideticd)"
        app launch one $programs/probe supervised
        expect one active
        app background one
        expect one suspended
        process=$(field one process)
        frozen() { sed -n 's/frozen/frozen/p' /sys/fs/cgroup$(group $process)/cgroup.events; }
        same() { [ "$(field one process)" = $process ] && echo yes; }
        # What systemd and the supervisor have counted: starts, and how the last process ended.
        count() {
            local properties="-p NRestarts -p Result -p ExecMainCode -p ExecMainStatus -p ExecMainPID"
            echo $1: $(control show $properties eideticd) generation $(cat $run/generation)
        } >>\(programs.directory.path)/starts
        main() { control show -p MainPID --value eideticd; }
        unit=$(control show -p ControlGroup --value eideticd)
        case $(group $process) in $unit/*) place="in the group of the unit" ;; *) place="$(group $process), not $unit" ;; esac
        echo "freezer $(field one freezer), $(frozen), $place"
        # Kills the supervisor, and waits until systemd has seen it.
        crash() {
            local old=$(main)
            kill -9 $old
            changed() { [ "$(main)" != $old ]; }
            retry changed
        }
        count started
        crash
        expect one suspended
        count killed
        echo "killed: suspended, same $(same)"
        retry accepted foreground one
        expect one active
        control restart eideticd
        expect one active
        count restarted
        echo "restarted: active, same $(same)"
        retry accepted background one
        expect one suspended
        echo "suspended again: $(frozen)"
        failed() { [ "$(control is-active eideticd)" = failed ]; }
        for round in 1 2 3 4 5; do
            if failed; then break; fi
            crash
            settled() { failed || [ "$(control is-active eideticd)" = active ]; }
            retry settled
        done
        echo "start limit: $(control is-active eideticd)"
        thawed() { [ "$(frozen)" = "frozen 0" ]; }
        retry thawed
        echo "released: $(frozen), same $([ -d /proc/$process ] && echo yes)"
        kill -9 $process
        """
    }
}
