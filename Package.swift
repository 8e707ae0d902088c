// swift-tools-version: 6.2
import PackageDescription

/// One list of settings for every Swift target, so a target cannot drift from the others.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Pixel kernels are optimised also in debug builds of this package itself: its tests run 500 times faster.
///
/// A package that depends on Eidetic by version must not see unsafe flags, so they need `EIDETIC_DEVELOPMENT=1`, which
/// the scripts set.
let isDevelopment = Context.environment["EIDETIC_DEVELOPMENT"] == "1"
let kernels: [CSetting] = isDevelopment ? [.unsafeFlags(["-O3"])] : []

/// Where the downloader is measured as a process of its own, it is linked as `script/demo` links the command.
///
/// Calls into a shared library of the language, and loading it, are a twentieth of the work. `script/bench` sets it.
let isBenchmark = Context.environment["EIDETIC_BENCHMARK"] == "1"

let package = Package(
    name: "eidetic",
    products: [
        .library(name: "Eidetic", targets: ["Eidetic"]),
        .library(name: "EideticFetch", targets: ["EideticFetch"]),
        .library(name: "EideticStore", targets: ["EideticStore"]),
        .library(name: "EideticBackground", targets: ["EideticBackground"]),
        .library(name: "EideticGTK", targets: ["EideticGTK"]),
        .library(name: "CGTK", targets: ["CGTK"]),
        .library(name: "EideticRedis", targets: ["EideticRedis"]),
        .library(name: "EideticTesting", targets: ["EideticTesting"]),
        .library(name: "EideticTransfer", targets: ["EideticTransfer"]),
        .executable(name: "eidetic-transferd", targets: ["EideticTransferService"]),
        .executable(name: "eidetic-decode", targets: ["eidetic-decode"]),
        .executable(name: "eidetic", targets: ["EideticCommand"]),
        .executable(name: "eidetic-app", targets: ["eidetic-app"]),
        .executable(name: "eideticd", targets: ["eideticd"]),
        .executable(name: "eidetic-bench", targets: ["EideticBench"]),
        .executable(name: "eidetic-conformance", targets: ["EideticConformance"]),
    ],
    traits: [
        .default(enabledTraits: ["AVIF", "HEIF"]),
        .trait(name: "GTK", description: "Shows images in GTK 4 widgets, with libgtk-4."),
        .trait(name: "AVIF", description: "Decodes and encodes AVIF, with libavif."),
        .trait(name: "HEIF", description: "Decodes and encodes HEIC, with libheif."),
        .trait(name: "JPEGXL", description: "Decodes JPEG XL, with libjxl."),
        .trait(name: "SVG", description: "Draws SVG, with librsvg."),
        .trait(name: "Redis", description: "Shares images among machines in Redis or Valkey, with hiredis."),
    ],
    targets: [
        // C: one target per library. Only its one wrapper may import it.
        .target(name: "CLinux"),
        .systemLibrary(name: "CXXHash", providers: [.apt(["libxxhash-dev"])]),
        .target(name: "CNettle", linkerSettings: [.linkedLibrary("nettle")]),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("curl")]),
        .target(name: "CInflate", linkerSettings: [.linkedLibrary("z")]),
        .target(name: "CNetwork"),
        .target(name: "CJPEG", cSettings: kernels, linkerSettings: [.linkedLibrary("jpeg")]),
        .target(name: "CPNG", cSettings: kernels, linkerSettings: [.linkedLibrary("png")]),
        .systemLibrary(name: "CWebP", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(name: "CGIF", providers: [.apt(["libgif-dev"])]),
        .systemLibrary(name: "CDeflate", providers: [.apt(["libdeflate-dev"])]),
        .systemLibrary(name: "CLCMS", providers: [.apt(["liblcms2-dev"])]),
        .target(name: "CPixels", cSettings: kernels),
        .target(name: "CBitmap", dependencies: ["CPixels"], cSettings: kernels),
        .target(name: "CCodec", linkerSettings: [.linkedLibrary("dl")]),
        .target(
            name: "CTIFF",
            dependencies: ["CCodec", "CJPEG", "CPixels"],
            cSettings: kernels,
            linkerSettings: [.linkedLibrary("tiff")]
        ),
        // Optional formats; their libraries are loaded when first used, so nothing is linked.
        .target(
            name: "CAVIF",
            dependencies: ["CCodec"],
            cSettings: kernels + [.define("TRAIT_AVIF", .when(traits: ["AVIF"]))]
        ),
        .target(
            name: "CHEIF",
            dependencies: ["CCodec"],
            cSettings: kernels + [.define("TRAIT_HEIF", .when(traits: ["HEIF"]))]
        ),
        .target(
            name: "CJXL",
            dependencies: ["CCodec"],
            cSettings: kernels + [.define("TRAIT_JPEGXL", .when(traits: ["JPEGXL"]))]
        ),
        .target(
            name: "CSVG",
            dependencies: ["CCodec", "CPixels"],
            cSettings: kernels + [.define("TRAIT_SVG", .when(traits: ["SVG"]))]
        ),

        // Swift, from the bottom layer to the top one. Arrows point down only.
        .target(name: "EideticCore", dependencies: ["CLinux", "CNettle", "CXXHash"], swiftSettings: strict),
        .target(
            name: "EideticCodecs",
            dependencies: [
                "EideticCore", "CJPEG", "CPNG", "CWebP", "CGIF", "CDeflate", "CLCMS", "CPixels", "CBitmap", "CCodec",
                "CTIFF",
                .target(name: "CAVIF", condition: .when(traits: ["AVIF"])),
                .target(name: "CHEIF", condition: .when(traits: ["HEIF"])),
                .target(name: "CJXL", condition: .when(traits: ["JPEGXL"])),
                .target(name: "CSVG", condition: .when(traits: ["SVG"])),
            ],
            swiftSettings: strict
        ),
        .target(name: "EideticHTTP", dependencies: ["EideticCore"], swiftSettings: strict),
        .target(name: "EideticStore", dependencies: ["EideticCore", "EideticHTTP"], swiftSettings: strict),
        .target(
            name: "EideticFetch",
            dependencies: ["EideticCore", "EideticHTTP", "CCurl", "CInflate", "CNetwork"],
            swiftSettings: strict
        ),
        .target(
            name: "Eidetic",
            dependencies: [
                "EideticCore", "EideticHTTP", "EideticCodecs", "EideticStore", "EideticFetch", "EideticSandbox",
            ],
            swiftSettings: strict
        ),

        // Decoding in processes of its own.
        .target(
            name: "EideticSandbox",
            dependencies: ["EideticCodecs", "EideticCore", "EideticWire", "CLinux"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "eidetic-decode",
            dependencies: ["EideticSandbox"],
            path: "Sources/eidetic-decode",
            swiftSettings: strict,
            linkerSettings: isBenchmark ? [.unsafeFlags(["-static-stdlib"])] : []
        ),
        .executableTarget(
            name: "EideticDecodeProbe",
            dependencies: ["EideticSandbox", "EideticCodecs", "EideticCore", "EideticWire", "CTestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticSandboxTests",
            dependencies: [
                "CTestSupport", "EideticSandbox", "EideticCodecs", "EideticCore", "EideticDecodeProbe",
                "EideticTestSupport", "EideticWire", "eidetic-decode",
            ],
            swiftSettings: strict
        ),

        // The shared tier (trait Redis; without it these targets are empty).
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        .target(
            name: "EideticRedis",
            dependencies: [
                "EideticCore", "EideticStore", .target(name: "CHiredis", condition: .when(traits: ["Redis"])),
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EideticFleetProbe",
            dependencies: ["Eidetic", "EideticCore", "EideticFetch", "EideticRedis", "EideticStore"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticRedisTests",
            dependencies: [
                "Eidetic", "EideticCore", "EideticFetch", "EideticFleetProbe", "EideticHTTP", "EideticRedis",
                "EideticStore", "EideticTestSupport",
            ],
            swiftSettings: strict
        ),

        // A fake network and a fake pipeline for the tests of users.
        .target(
            name: "EideticTesting",
            dependencies: ["EideticStore", "Eidetic", "EideticCore", "EideticHTTP", "EideticCodecs", "EideticFetch"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticTestingTests",
            dependencies: ["EideticFetch", "EideticStore", "EideticTesting", "Eidetic"],
            swiftSettings: strict
        ),

        // Messages between processes of one machine.
        .target(
            name: "EideticWire",
            dependencies: ["EideticCore", "EideticScheduler", "LifecycleCore", "CLinux"],
            swiftSettings: strict
        ),

        // Transfers that outlive the process.
        .target(
            name: "EideticTransfer",
            dependencies: ["EideticCore", "EideticHTTP", "EideticFetch", "EideticWire", "CLinux"],
            swiftSettings: strict
        ),
        .target(name: "CAllocation"),
        .executableTarget(
            name: "EideticTransferService",
            dependencies: ["CAllocation", "EideticTransfer", "EideticCore"],
            swiftSettings: strict,
            linkerSettings: isBenchmark ? [.unsafeFlags(["-static-stdlib"])] : []
        ),

        // Background execution.
        .target(name: "CSystemd", linkerSettings: [.linkedLibrary("systemd")]),
        .target(
            name: "EideticBus",
            dependencies: ["CSystemd", "EideticCore", "EideticScheduler"],
            swiftSettings: strict
        ),
        .target(name: "LifecycleCore", swiftSettings: strict),
        // The times of wakes and notifications; like the state machine, without a clock and without effects.
        .target(name: "EideticScheduler", dependencies: ["LifecycleCore"], swiftSettings: strict),
        .target(
            name: "EideticBackground",
            dependencies: [
                "LifecycleCore", "EideticBus", "EideticScheduler", "EideticWire", "EideticCore", "CLinux", "CNetwork",
            ],
            swiftSettings: strict
        ),

        // The supervisor.
        .target(name: "CSupervisor"),
        .target(
            name: "EideticSupervisor",
            dependencies: [
                "LifecycleCore", "EideticBus", "EideticScheduler", "EideticCore", "EideticWire", "CLinux",
                "CSupervisor",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "eideticd",
            dependencies: ["EideticSupervisor", "EideticCore", "EideticWire", "LifecycleCore"],
            path: "Sources/eideticd",
            swiftSettings: strict,
            linkerSettings: isBenchmark ? [.unsafeFlags(["-static-stdlib"])] : []
        ),

        // Widgets (trait GTK; without it these targets are empty).
        .systemLibrary(name: "CGTKLibrary", pkgConfig: "gtk4", providers: [.apt(["libgtk-4-dev"])]),
        .target(
            name: "CGTK",
            dependencies: [.target(name: "CGTKLibrary", condition: .when(traits: ["GTK"]))]
        ),
        .target(
            name: "EideticGTK",
            dependencies: ["EideticFetch", "EideticStore", "Eidetic", "EideticBackground", "EideticCore", "CGTK"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EideticGTKProbe",
            dependencies: [
                "EideticFetch", "EideticStore", "EideticGTK", "Eidetic", "EideticBackground", "EideticCore", "CGTK",
                "EideticTestSupport",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "ShowImage",
            dependencies: ["EideticGTK", "CGTK"],
            path: "Examples/ShowImage",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "ImageList",
            dependencies: ["EideticGTK", "CGTK"],
            path: "Examples/ImageList",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "Gallery",
            dependencies: [
                "EideticGTK", "Eidetic", "EideticBackground", "EideticCore", "EideticFetch", "EideticStore",
                "EideticTransfer", "CGTK",
            ],
            path: "Examples/Gallery",
            exclude: ["org.eidetic.Gallery.desktop", "org.eidetic.Gallery.svg"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticGTKTests",
            dependencies: [
                "EideticFetch", "EideticStore",
                "EideticGTK", "EideticGTKProbe", "EideticCore", "EideticTestSupport", "EideticTransfer",
                "EideticTransferService", "EideticCommand", "BackgroundFetch", "EideticSupervisorProbe", "Gallery",
                "ImageList",
                "eideticd",
            ],
            exclude: ["Goldens"],
            swiftSettings: strict
        ),

        // Programs.
        .target(
            name: "EideticCommandLine",
            dependencies: ["EideticCore", "EideticWire", "LifecycleCore"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EideticCommand",
            dependencies: [
                "Eidetic", "EideticCommandLine", "EideticCore", "EideticHTTP", "EideticCodecs", "EideticStore",
                "EideticFetch", "EideticTransfer", "EideticWire", "eidetic-app",
                "EideticRedis",
            ],
            swiftSettings: strict
        ),
        // Without the libraries of codecs.
        .executableTarget(
            name: "eidetic-app",
            dependencies: ["EideticCommandLine"],
            path: "Sources/eidetic-app",
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EideticBench",
            dependencies: [
                "Eidetic", "EideticCore", "EideticCodecs", "EideticStore", "EideticFetch", "EideticTestSupport",
                "CBareJPEG", "CBareCodecs", "CTunnel", "EideticBackground", "EideticFetchProbe", "EideticMemoryProbe",
                "EideticReplay", "EideticTransfer", "EideticTransferService", "EideticWire", "EideticSupervisor",
                "LifecycleCore", "EideticApplicationProbe", "EideticProbeWords", "EideticRedis", "EideticSandbox",
                "eidetic-decode", "eideticd",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EideticMemoryProbe",
            dependencies: ["EideticFetch", "EideticStore", "Eidetic", "EideticCore"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EideticFetchProbe",
            dependencies: ["EideticCore", "EideticFetch"],
            swiftSettings: strict,
            linkerSettings: isBenchmark ? [.unsafeFlags(["-static-stdlib"])] : []
        ),
        .target(name: "CTunnel"),
        .target(name: "CBareJPEG", linkerSettings: [.linkedLibrary("jpeg")]),
        .target(
            name: "CBareCodecs",
            cSettings: [.define("TRAIT_JPEGXL", .when(traits: ["JPEGXL"]))],
            linkerSettings: [
                .linkedLibrary("png"), .linkedLibrary("webp"), .linkedLibrary("webpdemux"), .linkedLibrary("gif"),
                .linkedLibrary("tiff"),
                .linkedLibrary("avif"), .linkedLibrary("heif"), .linkedLibrary("jxl", .when(traits: ["JPEGXL"])),
                .linkedLibrary("dl"),
            ]
        ),

        .executableTarget(
            name: "EideticConformance",
            dependencies: ["EideticCore", "EideticCodecs"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EideticBackgroundProbe",
            dependencies: [
                "EideticFetch",
                "Eidetic", "EideticBackground", "EideticCore", "EideticProbeWords", "EideticStore", "LifecycleCore",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EideticSupervisorProbe",
            dependencies: ["EideticCore", "EideticWire", "LifecycleCore"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EideticWakeProbe",
            dependencies: ["EideticBackground", "EideticBus", "EideticCore"],
            swiftSettings: strict
        ),
        .target(name: "EideticProbeWords", dependencies: ["EideticCore"], swiftSettings: strict),
        .executableTarget(
            name: "EideticApplicationProbe",
            dependencies: ["EideticBackground", "EideticCore", "EideticProbeWords"],
            swiftSettings: strict,
            linkerSettings: isBenchmark ? [.unsafeFlags(["-static-stdlib"])] : []
        ),
        .executableTarget(
            name: "EideticSessionProbe",
            dependencies: [
                "EideticFetch", "EideticTransfer", "Eidetic", "EideticBackground", "EideticCore", "EideticStore",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "Alarm",
            dependencies: ["EideticBackground"],
            path: "Examples/Alarm",
            exclude: ["org.eidetic.Alarm.desktop"],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "BackgroundFetch",
            dependencies: [
                "Eidetic", "EideticBackground",
                .target(name: "EideticGTK", condition: .when(traits: ["GTK"])),
                .target(name: "CGTK", condition: .when(traits: ["GTK"])),
            ],
            path: "Examples/BackgroundFetch",
            exclude: ["org.eidetic.BackgroundFetch.desktop"],
            swiftSettings: strict
        ),

        // Not shipped.
        .target(name: "CTestSupport"),
        .target(
            name: "EideticTestSupport",
            dependencies: ["EideticCore", "CTestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticTestSupportTests",
            dependencies: ["EideticTestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticCoreTests",
            dependencies: ["EideticCore", "EideticTestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticCodecsTests",
            dependencies: ["EideticCodecs", "EideticTestSupport", "CBareJPEG"],
            swiftSettings: strict
        ),
        .target(name: "EideticReplay", dependencies: ["EideticCore", "EideticStore"], swiftSettings: strict),
        .executableTarget(
            name: "EideticDiskWorker",
            dependencies: ["EideticCore", "EideticHTTP", "EideticStore"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticStoreTests",
            dependencies: ["EideticReplay", "EideticHTTP", "EideticStore", "EideticTestSupport", "EideticDiskWorker"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticHTTPTests",
            dependencies: ["EideticHTTP", "EideticTestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticFetchTests",
            dependencies: ["EideticFetch", "EideticFetchProbe", "EideticHTTP", "EideticTestSupport"],
            swiftSettings: strict
        ),
        // What reads the bytes of others: replayed here, fuzzed by script/fuzz.
        .testTarget(
            name: "EideticFuzzTests",
            dependencies: [
                "CPixels", "Eidetic", "EideticCodecs", "EideticCommand", "EideticCore", "EideticFetch", "EideticHTTP",
                "EideticSandbox", "EideticScheduler", "EideticStore", "EideticSupervisor", "EideticTestSupport",
                "EideticTransfer",
                "EideticWire",
                "LifecycleCore",
            ],
            exclude: ["Driver"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticTests",
            dependencies: [
                "Eidetic", "EideticCore", "EideticFetch", "EideticSandbox", "EideticStore", "EideticTestSupport",
                "eidetic-decode",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticCommandTests",
            dependencies: [
                "EideticFetch",
                "EideticCommand", "EideticTransferService", "Eidetic", "EideticCodecs", "EideticCore", "EideticStore",
                "EideticSupervisorProbe", "EideticTestSupport", "EideticWakeProbe", "EideticWire", "eideticd",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticBackgroundTests",
            dependencies: [
                "Alarm", "CTestSupport", "EideticBackground", "EideticBackgroundProbe", "EideticCore", "EideticStore",
                "EideticTestSupport", "EideticWire", "LifecycleCore",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticTransferTests",
            dependencies: [
                "EideticTransfer", "EideticTransferService", "EideticSessionProbe", "Eidetic", "EideticCore",
                "EideticFetch", "EideticStore", "EideticTestSupport", "EideticWire", "LifecycleCore", "eideticd",
            ],
            swiftSettings: strict
        ),
        .executableTarget(
            name: "EideticSandboxProbe",
            dependencies: ["EideticTransfer", "EideticCore", "CLinux"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticTransferServiceTests",
            dependencies: [
                "EideticTransfer", "EideticTransferService", "EideticSandboxProbe", "EideticCore", "EideticFetch",
                "EideticTestSupport", "EideticWire",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticWireTests",
            dependencies: ["EideticWire", "EideticCore", "EideticTestSupport", "LifecycleCore"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticSupervisorTests",
            dependencies: [
                "Alarm", "EideticApplicationProbe", "EideticBackgroundProbe", "EideticCommand", "EideticCore",
                "EideticProbeWords", "EideticStore", "EideticSupervisor", "EideticSupervisorProbe",
                "BackgroundFetch", "EideticTestSupport", "EideticWakeProbe", "EideticScheduler", "EideticWire",
                "LifecycleCore", "eideticd",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "EideticSchedulerTests",
            dependencies: ["EideticScheduler", "LifecycleCore"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "LifecycleCoreTests",
            dependencies: ["LifecycleCore", "EideticTestSupport"],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)

// C targets and targets that are not shipped each have a folder of their own.
let development: Set = [
    "EideticApplicationProbe", "EideticBackgroundProbe", "EideticBench", "EideticConformance", "EideticDecodeProbe",
    "EideticDiskWorker",
    "EideticFetchProbe", "EideticFleetProbe", "EideticGTKProbe", "EideticMemoryProbe", "EideticProbeWords",
    "EideticReplay", "EideticWakeProbe",
    "EideticSandboxProbe", "EideticSessionProbe", "EideticSupervisorProbe", "EideticTestSupport",
]
for target in package.targets where target.path == nil && target.type != .test {
    if development.contains(target.name) {
        target.path = "Sources/Development/\(target.name)"
    } else if !target.name.hasPrefix("Eidetic") && target.name != "LifecycleCore" {
        target.path = "Sources/C/\(target.name)"
    }
}

// EIDETIC_FUZZ, the path of libFuzzer without its entry point, adds the program of script/fuzz, and instruments all
// code: edges, the address sanitizer, and in C the undefined-behaviour sanitizer.
let fuzzer = Context.environment["EIDETIC_FUZZ"]
if let fuzzer { makeFuzzer(linking: fuzzer) }

@MainActor
func makeFuzzer(linking runtime: String) {
    package.products = []
    let tests = package.targets.first { $0.name == "EideticFuzzTests" }
    package.targets.removeAll { $0.name == "EideticFuzzTests" || $0.name == "eidetic-app" }
    package.targets += [
        .target(name: "CFuzz", path: "Sources/C/CFuzz"),
        .executableTarget(
            name: "EideticFuzz",
            dependencies: (tests?.dependencies ?? []) + ["CFuzz"],
            path: "Tests/EideticFuzzTests",
            exclude: ["ReplayTests.swift"],
            swiftSettings: strict,
            linkerSettings: [.unsafeFlags(["-sanitize=address", "-use-ld=lld", runtime, "-lstdc++"])]
        ),
    ]
    // An executable is not linked to another one; without its entry point the command is a library.
    guard let index = package.targets.firstIndex(where: { $0.name == "EideticCommand" }) else { return }
    let command = package.targets[index]
    package.targets[index] = .target(
        name: command.name,
        dependencies: command.dependencies.filter {
            if case .byNameItem("eidetic-app", _) = $0 { false } else { true }
        },
        exclude: ["Main.swift"],
        swiftSettings: strict
    )
}

// Checks of sizes by the C library need no unsafe flag, so they are in every release build. The stack protector is in
// those of the scripts; who builds Eidetic as a dependency adds it with `-Xcc -fstack-protector-strong`.
let hardening: [CSetting] =
    [.define("_FORTIFY_SOURCE", to: "3", .when(configuration: .release))]
    + (isDevelopment ? [.unsafeFlags(["-fstack-protector-strong"], .when(configuration: .release))] : [])
let instrumentation: [CSetting] = [
    .unsafeFlags([
        "-fsanitize=fuzzer-no-link,address,undefined", "-fno-sanitize-recover=undefined", "-fno-omit-frame-pointer",
    ])
]
for target in package.targets where target.type != .system {
    if target.path?.hasPrefix("Sources/C/") == true {
        target.cSettings = (target.cSettings ?? []) + (fuzzer == nil ? hardening : instrumentation)
    } else if fuzzer != nil {
        target.swiftSettings =
            (target.swiftSettings ?? []) + [
                .unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])
            ]
    }
}

// EIDETIC_TARGETS, a list of names separated by commas, keeps these targets and what they depend on: one module and its
// tests build in a part of the time.
if let names = Context.environment["EIDETIC_TARGETS"] {
    var kept: Set<String> = []
    var waiting = names.split(separator: ",").map(String.init)
    while let name = waiting.popLast() {
        let target = package.targets.first { $0.name == name }
        guard let target, kept.insert(name).inserted else { continue }
        waiting += target.dependencies.compactMap { dependency in
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): name
            default: nil
            }
        }
    }
    package.targets.removeAll { !kept.contains($0.name) }
    // The programs in Snippets need the libraries.
    package.products.removeAll { product in
        guard let library = product as? Product.Library else { return true }
        return !kept.isSuperset(of: library.targets)
    }
}
