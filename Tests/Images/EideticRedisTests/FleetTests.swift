#if Redis
import EideticCore
import EideticRedis
import EideticTestSupport
import Glibc
import Testing

@Suite("Fleet of processes", .timeLimit(.minutes(10)), .needsRedis, .needsNginx)
struct FleetTests {
    /// The path of the program that is a machine.
    private static let probe = BuiltProgram.path(of: "eidetic-probe")

    private static func start(_ fleet: Fleet, urls: [String], in directory: TemporaryDirectory, number: Int) throws
        -> Subprocess
    {
        let input = Array((urls.joined(separator: "\n") + "\n").utf8)
        return try Subprocess(
            probe,
            arguments: ["fleet", fleet.redis.url, directory.path(of: "\(number)"), "2000"],
            input: input
        )
    }

    @Test("L09 the lease of a machine that is killed expires, and the others load its images")
    func killedHolder() async throws {
        let fleet = try await Fleet()
        let directory = try TemporaryDirectory(named: "machines")
        let image = try Fleet.png(width: 200, height: 150, isNoisy: true)
        let isVictimDead = Guarded(false), halves = (0..<4).map { _ in Gate() }, rest = Gate()
        // The server holds the second half of each body back until the victim's end.
        let origin = try ScriptedOrigin { request in
            let number = Int(request.path.filter(\.isNumber)) ?? 0
            guard !isVictimDead.withLock({ $0 }) else {
                return [.response(headers: ["Cache-Control": "max-age=300"], body: image)]
            }
            let head = ScriptedOrigin.Step.head(200, headers: ["Content-Length": "\(image.count)"])
            return [head, .send(Array(image.prefix(image.count / 2))), .open(halves[number]), .wait(rest), .close]
        }
        let urls = (0..<4).map { "\(origin.url)/\($0).png" }
        let victim = try Self.start(fleet, urls: urls, in: directory, number: 0)
        for half in halves { await half.wait() }
        #expect(try await fleet.redis.command("KEYS", "*:lease").split(separator: "\n").count == 4)
        victim.kill()
        _ = await victim.waitUntilExit()
        // None is held for ever; −1 would be a lease without an end.
        for lease in try await fleet.redis.command("KEYS", "*:lease").split(separator: "\n") {
            let left = try await fleet.redis.command("PTTL", String(lease))
            #expect(Int(left).map { $0 != -1 && $0 <= 2_000 } == true, "\(left)")
        }
        isVictimDead.withLock { $0 = true }
        rest.open()
        let result = await (try Self.start(fleet, urls: urls, in: directory, number: 1)).waitUntilExit()
        #expect(result.status == .exited(0), "\(result.outputText)")
        #expect(result.outputText.contains("network 4"))
    }

    @Test("L09 Redis is killed and started again under load: no load fails")
    func restartUnderLoad() async throws {
        let fleet = try await Fleet(server: "add_header Cache-Control max-age=300;")
        let directory = try TemporaryDirectory(named: "machines")
        let urls = try (0..<Torture.repetitions(60, full: 1_000)).map { try fleet.serve("\($0).png").url }
        let machines = try (0..<4).map { try Self.start(fleet, urls: urls, in: directory, number: $0) }
        for kills in 1...3 {
            #expect(await machines[0].waitForOutput("loaded", times: 10 * kills))
            await fleet.redis.kill()
            try await fleet.redis.restart()
        }
        for machine in machines {
            let result = await machine.waitUntilExit()
            #expect(result.status == .exited(0), "\(result.outputText.suffix(400))")
        }
    }

    @Test(
        "L09 eight machines in network namespaces of their own: the origin sees each image once, also after a kill",
        .enabled(if: geteuid() == 0 && Subprocess.executablePath(for: "ip") != nil, "only root can make namespaces")
    )
    func namespaces() async throws {
        let count = Torture.repetitions(30, full: 1_000)
        let directory = try TemporaryDirectory(named: "namespaces")
        let image = try Fleet.png(width: 64, height: 48)
        for number in 0..<count { try directory.write(image, to: "files/\(number).png") }
        try directory.write(Array(Self.script(count: count, in: directory.path).utf8), to: "script")
        let result = try await Subprocess.run(
            "unshare",
            arguments: [
                "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "bash",
                directory.path(of: "script"),
            ]
        )
        #expect(result.status == .exited(0), "\(result.outputText)\(result.errorText)")
        let log = String(decoding: try directory.contents(of: "access.log"), as: UTF8.self).split(separator: "\n")
        // The eight images whose leases the killed machine held were requested by it as well.
        #expect(result.outputText.contains("leases left: 8\n"))
        #expect(log.count <= count + 8 && Set(log).count == count, "\(log.count) requests")
        let counts = result.outputText.split(separator: "\n").filter { $0.contains("network") || $0.contains("shared") }
        #expect(counts.count == 8, "\(counts)")
    }

    /// Returns the script that runs the servers in one namespace, and eight machines in eight others, after one that is
    /// killed while it holds leases.
    private static func script(count: Int, in directory: String) -> String {
        """
        set -e
        cd \(directory)
        mount -t tmpfs none /run
        mkdir -p /run/netns
        ip link set lo up
        ip link add fleet type bridge
        ip addr add 10.77.0.1/24 dev fleet
        ip link set fleet up
        cat > nginx.conf <<END
        daemon off; master_process off; pid \(directory)/nginx.pid; error_log stderr;
        events { worker_connections 1024; }
        http {
            log_format path '\\$uri'; access_log \(directory)/access.log path;
            client_body_temp_path \(directory)/body; proxy_temp_path \(directory)/proxy;
            fastcgi_temp_path \(directory)/fastcgi; uwsgi_temp_path \(directory)/uwsgi; scgi_temp_path \(directory)/scgi;
            server { listen 10.77.0.1:8080; root \(directory)/files; add_header Cache-Control max-age=300; }
        }
        END
        nginx -c \(directory)/nginx.conf &
        nginx=$!
        redis-server --bind 10.77.0.1 --port 6379 --protected-mode no --save '' --dir \(directory) > /dev/null &
        until redis-cli -h 10.77.0.1 ping > /dev/null 2>&1; do :; done
        until [ -s nginx.pid ]; do :; done
        seq 0 \(count - 1) | sed 's|.*|http://10.77.0.1:8080/&.png|' > list
        for n in 1 2 3 4 5 6 7 8; do
            ip netns add machine$n
            ip link add veth$n type veth peer name eth0 netns machine$n
            ip link set veth$n master fleet up
            ip -n machine$n addr add 10.77.0.$((n + 1))/24 dev eth0
            ip -n machine$n link set eth0 up
            ip -n machine$n link set lo up
        done
        leases() { redis-cli -h 10.77.0.1 --scan --pattern '*:lease' | wc -l; }
        kill -STOP $nginx
        ip netns exec machine1 \(probe) fleet redis://10.77.0.1 \(directory)/victim 2000 < list > /dev/null 2>&1 &
        victim=$!
        until [ "$(leases)" = 8 ]; do kill -0 $victim; done
        kill -KILL $victim
        wait $victim || true
        echo "leases left: $(leases)"
        kill -CONT $nginx
        status=0
        for n in 1 2 3 4 5 6 7 8; do
            ip netns exec machine$n \(probe) fleet redis://10.77.0.1 \(directory)/machine$n < list > output$n 2>&1 &
            machines="$machines $!"
        done
        for machine in $machines; do wait $machine || status=1; done
        cat output* | grep -v '^loaded' || true
        exit $status
        """
    }
}
#endif
