import EideticCore
import EideticTestSupport
import Glibc

extension Suite {
    /// The start of a window with many images.
    static let gallery = Suite(
        "gallery",
        summary: "the example Gallery with 2,000 photographs on a virtual screen: its window and its first images",
        arguments: ["count=2000  the number of images", "rounds=5  the number of samples"]
    ) { bench in
        let count = try bench.integer(named: "count", default: 2_000, quick: 40)
        let run = try await GalleryRun(photographs: Photographs(count: min(count, 200)), count: count)
        try await run.measure(with: bench, rounds: try bench.integer(named: "rounds", default: 5, quick: 1))
    }
}

/// Starts of the program with an empty cache.
private struct GalleryRun {
    private let count: Int
    private let server: Nginx
    private let screen: Subprocess
    private let manager: Subprocess
    private let directory: TemporaryDirectory

    init(photographs: Photographs, count: Int) async throws {
        self.count = count
        directory = try TemporaryDirectory(named: "gallery")
        let location = "access_log off; location /p/ { alias \(photographs.directory)/; }"
        let server = try await Nginx(.init(server: location)), names = photographs.names
        self.server = server
        // Each image has a URL of its own, which the server does not look at.
        let list = (0..<count).map { "\(server.url)/p/\(names[$0 % names.count])?\($0)\n" }
        try directory.write(Array(list.joined().utf8), to: "list")
        let size = ["-screen", "0", "1280x900x24", "-displayfd", "1", "-nolisten", "tcp"]
        screen = try await Self.start("Xvfb", arguments: size, awaiting: "\n")
        let places: [String: String?] = ["DISPLAY": Self.name(of: screen), "HOME": directory.path]
        let startup = ["--startup", "echo started"]
        manager = try await Self.start("openbox", arguments: startup, environment: places, awaiting: "started")
    }

    private static func start(
        _ program: String,
        arguments: [String],
        environment: [String: String?] = [:],
        awaiting output: String
    ) async throws -> Subprocess {
        let process = try Subprocess(program, arguments: arguments, environment: environment)
        guard await process.waitForOutput(output) else {
            throw EideticError(.refused, message: "\(program) did not start: \(process.errorsSoFar)")
        }
        return process
    }

    private static func name(of screen: Subprocess) -> String { ":" + screen.outputSoFar.filter(\.isNumber) }

    func measure(with bench: Bench, rounds: Int) async throws {
        var windows: [Double] = [], images: [Double] = []
        for round in 0..<rounds {
            let times = try await start(cache: directory.path(of: "cache\(round)"))
            windows.append(times.window)
            images.append(times.images)
        }
        for (title, goal, values) in [("the window", 500.0, windows), ("all images in view", 1_000, images)] {
            bench.report(
                BenchmarkCase("gallery: \(count) photographs, \(title)", unit: .milliseconds, goal: .value(goal)),
                samples: .init(values: values)
            )
        }
    }

    /// Returns the milliseconds until the window is active, and until each visible image is shown.
    private func start(cache: String) async throws -> (window: Double, images: Double) {
        let clock = ContinuousClock(), start = clock.now
        let gallery = try Subprocess(
            try MeasuredProcess.path(ofProgramBesideThis: "Gallery"),
            arguments: ["--report", "--cache", cache, "@\(directory.path(of: "list"))"],
            environment: [
                "DISPLAY": Self.name(of: screen), "GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none",
                "HOME": directory.path, "XDG_RUNTIME_DIR": directory.path, "XDG_CONFIG_HOME": directory.path,
                "XDG_STATE_HOME": directory.path, "DBUS_SESSION_BUS_ADDRESS": "disabled:", "WAYLAND_DISPLAY": nil,
                "GSETTINGS_BACKEND": "memory", "GTK_THEME": "Adwaita",
            ]
        )
        var times: [Double] = []
        for event in ["state active", "all shown"] {
            guard await gallery.waitForOutput(event), !gallery.outputSoFar.contains("failed: ") else {
                let output = gallery.outputSoFar + gallery.errorsSoFar
                throw EideticError(.refused, message: "Gallery did not report \(event), or an image failed: \(output)")
            }
            times.append((clock.now - start) / .milliseconds(1))
        }
        gallery.kill(SIGTERM)
        _ = await gallery.waitUntilExit()
        return (times[0], times[1])
    }
}
