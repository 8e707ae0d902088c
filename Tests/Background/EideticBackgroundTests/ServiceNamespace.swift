import EideticCore
import EideticTestSupport
import Glibc

/// A real systemd, as the first process of separate namespaces, with the units and the driver script of a test.
struct ServiceNamespace {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory(named: "service") }

    /// The reason why the namespaces cannot be created here; `nil` if they can.
    static var obstacle: String? {
        if getuid() != 0 { return "needs root" }
        for path in ["/lib/systemd/systemd", "/usr/bin/unshare", "/usr/bin/dbus-daemon", "/lib/systemd/systemd-logind"]
        where access(path, X_OK) != 0 { return "\(path) is not installed" }
        if controlGroup == nil { return "no writable cgroup v2 hierarchy" }
        return unshareWorks ? nil : "namespaces cannot be made"
    }

    private static let controlGroup = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].first { path in
        access("\(path)/cgroup.procs", W_OK) == 0
    }

    private static let unshareWorks = system("unshare --pid --mount --fork --mount-proc --cgroup true 2>/dev/null") == 0

    /// Runs the script as a unit of the inner system, and returns its output; the system ends with the script.
    func run(_ script: String) async throws -> [String] {
        try directory.write(
            Array(Self.firstProcess(directory: directory.path, group: Self.controlGroup ?? "").utf8),
            to: "first"
        )
        try directory.write(Array(Self.target.utf8), to: "units/test.target")
        try directory.write(Array(Self.driver(directory: directory.path).utf8), to: "units/driver.service")
        for (name, text) in Self.busUnits { try directory.write(Array(text.utf8), to: "units/\(name)") }
        try directory.write(Array((Self.prelude(directory: directory.path) + script).utf8), to: "driver")
        let result = try await Subprocess.run("bash", arguments: [directory.path(of: "first")])
        let output = (try? directory.contents(of: "output")) ?? []
        if output.isEmpty { throw EideticError(.fileFailure, message: "no output: \(result.errorText)") }
        return String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Returns the path of the probe's output as the unit `name`.
    func logPath(of name: String) -> String { directory.path(of: "\(name).log") }

    /// Returns the probe's output as the unit `name`.
    func log(of name: String) -> [String] {
        String(decoding: (try? directory.contents(of: "\(name).log")) ?? [], as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    /// Returns the script of the first process: a control group, namespaces, private mounts, then systemd; all removed
    /// at the end.
    private static func firstProcess(directory: String, group: String) -> String {
        """
        group=\(group)/eidetic-test-$$
        mkdir $group && echo $$ > $group/cgroup.procs || exit 1
        timeout -s KILL 60 unshare --pid --mount --fork --mount-proc --cgroup --uts --ipc --kill-child bash -ec '
            mount --make-rprivate /
            mount -t tmpfs tmpfs /run
            mkdir -p /run/systemd/system /run/lock /run/dbus
            mount -t tmpfs tmpfs /sys/fs/cgroup && umount /sys/fs/cgroup
            mount -t cgroup2 cgroup2 /sys/fs/cgroup
            cp \(directory)/units/* /run/systemd/system/
            cp -r /etc/pam.d /run/pam.d
            echo "session required pam_systemd.so class=user type=tty" > /run/pam.d/eidetic
            echo "account required pam_permit.so" >> /run/pam.d/eidetic
            mount --bind /run/pam.d /etc/pam.d
            mkdir -p /run/systemd/logind.conf.d
            printf "[Login]\nInhibitDelayMaxSec=3\n" > /run/systemd/logind.conf.d/delay.conf
            echo freeze mem > /run/power-state
            mount --bind /run/power-state /sys/power/state || true
            exec env -i PATH=$PATH container=eidetic SYSTEMD_UNIT_PATH=/run/systemd/system /lib/systemd/systemd \\
                --system --unit=test.target --log-target=null --show-status=0 </dev/null >/dev/null 2>&1
        '
        echo $$ > \(group)/cgroup.procs
        find $group -depth -type d -exec rmdir {} \\;
        """
    }

    private static let target = """
        [Unit]
        DefaultDependencies=no
        Wants=driver.service

        """

    private static func driver(directory: String) -> String {
        """
        [Unit]
        DefaultDependencies=no
        [Service]
        Type=oneshot
        ExecStart=/bin/bash \(directory)/driver

        """
    }

    private static let busUnits = [
        // The first process connects to a bus only if its socket is a unit.
        "dbus.socket": """
        [Unit]
        DefaultDependencies=no
        [Socket]
        ListenStream=/run/dbus/system_bus_socket

        """,
        "dbus.service": """
        [Unit]
        DefaultDependencies=no
        Requires=dbus.socket
        After=dbus.socket
        [Service]
        Type=notify
        NotifyAccess=all
        ExecStart=/usr/bin/dbus-daemon --system --address=systemd: --nofork --nopidfile --systemd-activation

        """,
        "systemd-logind.service": """
        [Unit]
        DefaultDependencies=no
        [Service]
        Type=notify
        BusName=org.freedesktop.login1
        ExecStart=/lib/systemd/systemd-logind

        """,
        // Units that a session requires.
        "user-runtime-dir@.service": """
        [Unit]
        DefaultDependencies=no
        [Service]
        Type=oneshot
        RemainAfterExit=yes
        ExecStart=/bin/mkdir -p /run/user/%i

        """,
        "user@.service": """
        [Unit]
        DefaultDependencies=no
        [Service]
        Type=oneshot
        RemainAfterExit=yes
        ExecStart=/bin/true

        """,
        // A sleep that ends when the test creates a file.
        "suspend.target": """
        [Unit]
        DefaultDependencies=no
        Requires=asleep.service
        After=asleep.service
        StopWhenUnneeded=yes

        """,
        "asleep.service": """
        [Unit]
        DefaultDependencies=no
        [Service]
        Type=oneshot
        ExecStart=/bin/sh -c 'touch /run/mark; until [ -e /run/wake ]; do sleep 0.02; done'

        """,
        "poweroff.target": """
        [Unit]
        DefaultDependencies=no
        Wants=mark.service
        After=mark.service

        """,
        "mark.service": """
        [Unit]
        DefaultDependencies=no
        [Service]
        Type=oneshot
        ExecStart=/bin/sh -c 'busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager ListInhibitors | grep -c eidetic > /run/mark.tmp; mv /run/mark.tmp /run/mark'

        """,
    ]

    /// Defines `unit NAME ARGUMENTS`, which starts the probe as a service, and `stop NAME`, which prints how its stop
    /// went.
    private static func prelude(directory: String) -> String {
        """
        exec >\(directory)/output 2>&1
        trap 'systemctl --force --force poweroff' EXIT
        unit() {
            printf '%s\\n' '[Unit]' DefaultDependencies=no '[Service]' Type=notify NotifyAccess=all TimeoutStopSec=1 \\
                KillMode=mixed "ExecStart=\(ProbeProcess.command) $2" StandardOutput=append:\(directory)/$1.log \\
                StandardError=append:\(directory)/$1.log Environment=EIDETIC_LOG=info Environment=ASAN_OPTIONS=detect_leaks=0 "${@:3}" \\
                > /run/systemd/system/$1.service
            systemctl daemon-reload
            systemctl start $1 && echo "$1 started"
        }
        # Waits until a unit of the probe has said something so often.
        said() {
            until [ "$(grep -c -- "$2" \(directory)/$1.log)" -ge ${3:-1} ]; do sleep 0.02; done
        }
        login() { busctl call org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager "$@"; }
        # Waits until the probe is an inhibitor of logind.
        inhibited() {
            until login ListInhibitors | grep -q eidetic; do sleep 0.02; done
        }
        # Starts the probe with arguments beside logind, and waits until it is an inhibitor.
        hold() {
            systemctl start dbus systemd-logind
            unit held "$1"
            inhibited
        }
        moment() { systemctl show --value -p $2 $1; }
        stop() {
            systemctl stop $1
            systemctl show -p Result -p ExecMainStatus -p StatusText $1 | sed "s/^/$1 /"
        }

        """
    }
}
