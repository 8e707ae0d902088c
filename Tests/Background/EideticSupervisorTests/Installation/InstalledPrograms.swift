import EideticCore
import EideticTestSupport
import Glibc

/// The programs in a directory that every user may read, and shell functions that use them.
struct InstalledPrograms {
    let directory: TemporaryDirectory

    /// A user that no account belongs to.
    static let user = 61_234

    init() async throws {
        directory = try TemporaryDirectory(named: "installed")
        chmod(directory.path, 0o755)
        let sources = [
            Daemon.executable("eidetic"): "eidetic", Daemon.executable("eidetic-app"): "eidetic-app",
            Daemon.executable("eideticd"): "eideticd",
            Daemon.probe: "probe",
        ]
        for (source, name) in sources {
            let result = try await Subprocess.run("install", arguments: ["-m", "755", source, path(of: name)])
            guard result.status == .exited(0) else { throw SystemError(.open, errorNumber: EIO, path: source) }
        }
    }

    func path(of name: String) -> String { directory.path(of: name) }

    /// `app WORD…`, which runs `eidetic app`; `expect NAME STATE`, which waits for a state; `field NAME FIELD`, which
    /// prints a field of the list; `frozen PROCESS`, which prints whether its control group is frozen.
    var functions: String {
        """
        programs=\(directory.path)
        become() {
            if [ $1 = root ]; then "${@:2}"; else
                setpriv --reuid=$1 --regid=$1 --clear-groups --inh-caps=-all --no-new-privs "${@:2}"
            fi
        }
        app() { become $who env EIDETIC_RUNTIME_DIR=$run $programs/eidetic app "$@"; }
        retry() {
            for try in $(seq 400); do
                if "$@"; then return 0; fi
                sleep 0.05
            done
            echo "failed: $*"
            return 1
        }
        listed() { app list --json 2>/dev/null | grep -q "\\"identifier\\":\\"$1\\",\\"state\\":\\"$2\\""; }
        expect() { retry listed $1 $2 || { app list --json; app log; }; }
        accepted() { app "$@" 2>/dev/null; }
        field() { app list --json | grep "\\"identifier\\":\\"$1\\"" | grep -o "\\"$2\\":\\"*[^,\\"]*" | sed 's/.*://; s/"//'; }
        group() { sed -n 's/^0:://p' /proc/$1/cgroup; }
        state() { sed 's/.*) //; s/ .*//' /proc/$1/stat; }

        """
    }
}
