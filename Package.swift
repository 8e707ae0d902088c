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

/// The path of libFuzzer without its entry point: the package is then the program of `script/fuzz`, all instrumented.
let fuzzer = Context.environment["EIDETIC_FUZZ"]

/// Programs that are measured as processes are linked as they are shipped. `script/bench` sets it.
let isBenchmark = Context.environment["EIDETIC_BENCHMARK"] == "1"

/// The modules whose tests are built, with what they need and nothing else; `script/test MODULE` sets it.
let testedModules = Context.environment["EIDETIC_TESTED_MODULES"]?.split(separator: ",").map(String.init)

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

/// The kinds of Swift targets, each with its folder.
enum Kind: String {
    case images = "Images"
    case background = "Background"
    case transfers = "Transfers"
    case programs = "Programs"
    case development = "Development"
}

typealias Dependency = Target.Dependency

/// A library of `Sources/<kind>`.
func module(_ name: String, in kind: Kind, _ dependencies: [Dependency]) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: "Sources/\(kind.rawValue)/\(name)",
        swiftSettings: swiftSettings
    )
}

/// A program of `Sources/<kind>`.
func program(_ name: String, in kind: Kind, _ dependencies: [Dependency]) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies,
        path: "Sources/\(kind.rawValue)/\(name)",
        swiftSettings: swiftSettings,
        linkerSettings: isBenchmark ? [.unsafeFlags(["-static-stdlib"])] : []
    )
}

/// The tests of a module, in `Tests/<kind>`.
func tests(_ module: String, in kind: Kind, _ dependencies: [Dependency], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(module)Tests",
        dependencies: dependencies,
        path: "Tests/\(kind.rawValue)/\(module)Tests",
        exclude: exclude,
        swiftSettings: strict
    )
}

/// A program of `Examples`.
func example(_ name: String, _ dependencies: [Dependency], exclude: [String] = []) -> Target {
    .executableTarget(
        name: name,
        dependencies: dependencies,
        path: "Examples/\(name)",
        exclude: exclude,
        swiftSettings: strict
    )
}

/// C code of `Sources/C`, linked to `libraries`.
func c(
    _ name: String,
    _ dependencies: [Dependency] = [],
    optimised: Bool = false,
    trait: String? = nil,
    libraries: [LinkerSetting] = []
) -> Target {
    var settings = fuzzer == nil ? hardening : instrumentation
    if optimised && isDevelopment { settings.append(.unsafeFlags(["-O3"])) }
    if let trait { settings.append(.define("TRAIT_\(trait)", .when(traits: [trait]))) }
    return .target(
        name: name,
        dependencies: dependencies,
        path: "Sources/C/\(name)",
        cSettings: settings,
        linkerSettings: libraries
    )
}

/// The module map of a library of Debian in `Sources/C`.
func library(_ name: String, package: String, pkgConfig: String? = nil) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

func optional(_ name: String, _ trait: String) -> Dependency { .target(name: name, condition: .when(traits: [trait])) }

let swiftSettings =
    strict + (fuzzer == nil ? [] : [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])])

// C: one target per library. Only its one wrapper may import it. Optional formats load their library when first used.
let foreign: [Target] = [
    c("CLinux"),
    c("CNettle", libraries: [.linkedLibrary("nettle")]),
    c("CCurl", libraries: [.linkedLibrary("curl")]),
    c("CInflate", libraries: [.linkedLibrary("z")]),
    c("CNetwork"),
    c("CJPEG", optimised: true, libraries: [.linkedLibrary("jpeg")]),
    c("CPNG", optimised: true, libraries: [.linkedLibrary("png")]),
    c("CPixels", optimised: true),
    c("CBitmap", ["CPixels"], optimised: true),
    c("CCodec", libraries: [.linkedLibrary("dl")]),
    c("CTIFF", ["CCodec", "CJPEG", "CPixels"], optimised: true, libraries: [.linkedLibrary("tiff")]),
    c("CAVIF", ["CCodec"], optimised: true, trait: "AVIF"),
    c("CHEIF", ["CCodec"], optimised: true, trait: "HEIF"),
    c("CJXL", ["CCodec"], optimised: true, trait: "JPEGXL"),
    c("CSVG", ["CCodec", "CPixels"], optimised: true, trait: "SVG"),
    c("CAllocation"),
    c("CSystemd", libraries: [.linkedLibrary("systemd")]),
    c("CSupervisor"),
    c("CGTK", [optional("CGTKLibrary", "GTK")]),
    library("CXXHash", package: "libxxhash-dev"),
    library("CWebP", package: "libwebp-dev"),
    library("CGIF", package: "libgif-dev"),
    library("CDeflate", package: "libdeflate-dev"),
    library("CLCMS", package: "liblcms2-dev"),
    library("CHiredis", package: "libhiredis-dev"),
    library("CGTKLibrary", package: "libgtk-4-dev", pkgConfig: "gtk4"),
]

// Swift, from the bottom layer to the top one. Arrows point down only; ARCHITECTURE.md has the table of what may import
// what, which script/rules compares with this.
let images: [Target] = [
    module("EideticCore", in: .images, ["CLinux", "CNettle", "CXXHash"]),
    module(
        "EideticCodecs",
        in: .images,
        [
            "EideticCore", "CJPEG", "CPNG", "CWebP", "CGIF", "CDeflate", "CLCMS", "CPixels", "CBitmap", "CCodec",
            "CTIFF", optional("CAVIF", "AVIF"), optional("CHEIF", "HEIF"), optional("CJXL", "JPEGXL"),
            optional("CSVG", "SVG"),
        ]
    ),
    module("EideticHTTP", in: .images, ["EideticCore"]),
    module("EideticStore", in: .images, ["EideticCore", "EideticHTTP"]),
    module("EideticFetch", in: .images, ["EideticCore", "EideticHTTP", "CCurl", "CInflate", "CNetwork"]),
    module("EideticSandbox", in: .images, ["EideticCodecs", "EideticCore", "CLinux"]),
    module(
        "Eidetic",
        in: .images,
        ["EideticCore", "EideticHTTP", "EideticCodecs", "EideticStore", "EideticFetch", "EideticSandbox"]
    ),
    module("EideticRedis", in: .images, ["EideticCore", "EideticStore", optional("CHiredis", "Redis")]),
    module(
        "EideticGTK",
        in: .images,
        ["Eidetic", "EideticBackground", "EideticCore", "EideticFetch", "EideticStore", "CGTK"]
    ),
    module(
        "EideticTesting",
        in: .images,
        ["Eidetic", "EideticCore", "EideticHTTP", "EideticCodecs", "EideticFetch", "EideticStore"]
    ),
]

let background: [Target] = [
    // The state machine of applications, and the times of wakes and notifications: no clock, and no effects.
    module("EideticLifecycle", in: .background, []),
    // What applications, the supervisor and `eidetic app` say to each other.
    module("EideticSupervision", in: .background, ["EideticCore", "EideticLifecycle"]),
    module("EideticDBus", in: .background, ["EideticCore", "EideticLifecycle", "CSystemd"]),
    module(
        "EideticBackground",
        in: .background,
        ["EideticCore", "EideticLifecycle", "EideticDBus", "EideticSupervision", "CLinux", "CNetwork"]
    ),
    module(
        "EideticSupervisor",
        in: .background,
        ["EideticCore", "EideticLifecycle", "EideticDBus", "EideticSupervision", "CLinux", "CSupervisor"]
    ),
]

let transfers: [Target] = [
    // What applications link: sessions, and the connection to the transfer process.
    module("EideticTransfer", in: .transfers, ["EideticCore", "EideticHTTP", "EideticFetch", "CLinux"]),
    // What the transfer process links: the journal, the schedule and the transfers themselves.
    module(
        "EideticTransferEngine",
        in: .transfers,
        ["EideticTransfer", "EideticCore", "EideticHTTP", "EideticFetch", "CLinux"]
    ),
]

let programs: [Target] = [
    module("EideticCLI", in: .programs, ["EideticCore", "EideticSupervision", "EideticLifecycle"]),
    program(
        "eidetic",
        in: .programs,
        [
            "Eidetic", "EideticCLI", "EideticCore", "EideticHTTP", "EideticCodecs", "EideticStore", "EideticFetch",
            "EideticTransfer", "EideticRedis", "eidetic-app",
        ]
    ),
    program("eidetic-decode", in: .programs, ["EideticSandbox"]),
    program("eidetic-transferd", in: .programs, ["EideticTransferEngine", "EideticCore", "CAllocation"]),
    program("eideticd", in: .programs, ["EideticSupervisor", "EideticCore", "EideticSupervision", "EideticLifecycle"]),
    // Without the libraries of codecs.
    program("eidetic-app", in: .programs, ["EideticCLI"]),
]

let examples: [Target] = [
    example("ShowImage", ["EideticGTK", "CGTK"]),
    example("ImageList", ["EideticGTK", "CGTK"]),
    example(
        "Gallery",
        [
            "EideticGTK", "Eidetic", "EideticBackground", "EideticCore", "EideticFetch", "EideticStore",
            "EideticTransfer", "CGTK",
        ],
        exclude: ["org.eidetic.Gallery.desktop", "org.eidetic.Gallery.svg"]
    ),
    example("Alarm", ["EideticBackground"], exclude: ["org.eidetic.Alarm.desktop"]),
    example(
        "BackgroundFetch",
        ["Eidetic", "EideticBackground", optional("EideticGTK", "GTK"), optional("CGTK", "GTK")],
        exclude: ["org.eidetic.BackgroundFetch.desktop"]
    ),
]

// For those who work on Eidetic: not shipped.
let development: [Target] = [
    c("CTestSupport"),
    c("CTunnel"),
    c("CBareJPEG", libraries: [.linkedLibrary("jpeg")]),
    c(
        "CBareCodecs",
        trait: "JPEGXL",
        libraries: ["png", "webp", "webpdemux", "gif", "tiff", "avif", "heif", "dl"].map { .linkedLibrary($0) }
            + [.linkedLibrary("jxl", .when(traits: ["JPEGXL"]))]
    ),
    module("EideticTestSupport", in: .development, ["EideticCore", "CTestSupport"]),
    module("EideticReplay", in: .development, ["EideticCore", "EideticStore"]),
    module("EideticProbeWords", in: .development, ["EideticCore"]),
    program(
        "EideticBench",
        in: .development,
        [
            "Eidetic", "EideticCore", "EideticCodecs", "EideticStore", "EideticFetch", "EideticTestSupport",
            "CBareJPEG", "CBareCodecs", "CTunnel", "EideticBackground", "EideticFetchProbe", "EideticMemoryProbe",
            "EideticReplay", "EideticTransfer", "eidetic-transferd", "EideticSupervision", "EideticSupervisor",
            "EideticLifecycle", "EideticApplicationProbe", "EideticProbeWords", "EideticRedis", "EideticSandbox",
            "eidetic-decode", "eideticd",
        ]
    ),
    program("EideticConformance", in: .development, ["EideticCore", "EideticCodecs"]),
    program(
        "EideticDecodeProbe",
        in: .development,
        ["EideticSandbox", "EideticCodecs", "EideticCore", "CTestSupport"]
    ),
    program(
        "EideticFleetProbe",
        in: .development,
        ["Eidetic", "EideticCore", "EideticFetch", "EideticRedis", "EideticStore"]
    ),
    program(
        "EideticGTKProbe",
        in: .development,
        [
            "EideticFetch", "EideticStore", "EideticGTK", "Eidetic", "EideticBackground", "EideticCore", "CGTK",
            "EideticTestSupport",
        ]
    ),
    program("EideticMemoryProbe", in: .development, ["EideticFetch", "EideticStore", "Eidetic", "EideticCore"]),
    program("EideticFetchProbe", in: .development, ["EideticCore", "EideticFetch"]),
    program(
        "EideticBackgroundProbe",
        in: .development,
        [
            "EideticFetch", "Eidetic", "EideticBackground", "EideticCore", "EideticProbeWords", "EideticStore",
            "EideticLifecycle",
        ]
    ),
    program("EideticSupervisorProbe", in: .development, ["EideticCore", "EideticSupervision", "EideticLifecycle"]),
    program("EideticWakeProbe", in: .development, ["EideticBackground", "EideticDBus", "EideticCore"]),
    program(
        "EideticApplicationProbe",
        in: .development,
        ["EideticBackground", "EideticCore", "EideticProbeWords"]
    ),
    program(
        "EideticSessionProbe",
        in: .development,
        ["EideticFetch", "EideticTransfer", "Eidetic", "EideticBackground", "EideticCore", "EideticStore"]
    ),
    program("EideticDiskWorker", in: .development, ["EideticCore", "EideticHTTP", "EideticStore"]),
    program("EideticSandboxProbe", in: .development, ["EideticTransferEngine", "EideticCore", "CLinux"]),
]

/// What reads the bytes of others: replayed by its tests, fuzzed by script/fuzz.
let fuzzed: [Dependency] = [
    "CPixels", "Eidetic", "EideticCodecs", "EideticCore", "EideticFetch", "EideticHTTP", "EideticSandbox",
    "EideticStore", "EideticSupervision", "EideticSupervisor", "EideticTestSupport", "EideticTransfer",
    "EideticTransferEngine", "EideticLifecycle",
]

let suites: [Target] = [
    tests("EideticCore", in: .images, ["EideticCore", "EideticTestSupport"]),
    tests("EideticCodecs", in: .images, ["EideticCodecs", "EideticTestSupport", "CBareJPEG"]),
    tests("EideticHTTP", in: .images, ["EideticHTTP", "EideticTestSupport"]),
    tests(
        "EideticStore",
        in: .images,
        ["EideticReplay", "EideticHTTP", "EideticStore", "EideticTestSupport", "EideticDiskWorker"]
    ),
    tests(
        "EideticFetch",
        in: .images,
        ["EideticFetch", "EideticFetchProbe", "EideticHTTP", "EideticTestSupport"]
    ),
    tests(
        "EideticSandbox",
        in: .images,
        [
            "CTestSupport", "EideticSandbox", "EideticCodecs", "EideticCore", "EideticDecodeProbe",
            "EideticTestSupport", "eidetic-decode",
        ]
    ),
    tests(
        "Eidetic",
        in: .images,
        [
            "Eidetic", "EideticCore", "EideticFetch", "EideticSandbox", "EideticStore", "EideticTestSupport",
            "eidetic-decode",
        ]
    ),
    tests(
        "EideticRedis",
        in: .images,
        [
            "Eidetic", "EideticCore", "EideticFetch", "EideticFleetProbe", "EideticHTTP", "EideticRedis",
            "EideticStore", "EideticTestSupport",
        ]
    ),
    tests(
        "EideticGTK",
        in: .images,
        [
            "EideticFetch", "EideticStore", "EideticGTK", "EideticGTKProbe", "EideticCore", "EideticTestSupport",
            "EideticTransfer", "eidetic-transferd", "eidetic", "BackgroundFetch", "EideticSupervisorProbe", "Gallery",
            "ImageList", "eideticd",
        ],
        exclude: ["Goldens"]
    ),
    tests("EideticTesting", in: .images, ["EideticFetch", "EideticStore", "EideticTesting", "Eidetic"]),
    tests("EideticLifecycle", in: .background, ["EideticLifecycle", "EideticTestSupport"]),
    tests(
        "EideticSupervision",
        in: .background,
        ["EideticSupervision", "EideticCore", "EideticTestSupport", "EideticLifecycle"]
    ),
    tests(
        "EideticBackground",
        in: .background,
        [
            "Alarm", "CTestSupport", "EideticBackground", "EideticBackgroundProbe", "EideticCore", "EideticStore",
            "EideticTestSupport", "EideticSupervision", "EideticLifecycle",
        ]
    ),
    tests(
        "EideticSupervisor",
        in: .background,
        [
            "Alarm", "EideticApplicationProbe", "EideticBackgroundProbe", "eidetic", "EideticCore",
            "EideticProbeWords", "EideticStore", "EideticSupervisor", "EideticSupervisorProbe", "BackgroundFetch",
            "EideticTestSupport", "EideticWakeProbe", "EideticSupervision", "EideticLifecycle", "eideticd",
        ]
    ),
    tests(
        "EideticTransfer",
        in: .transfers,
        [
            "EideticTransfer", "eidetic-transferd", "EideticSessionProbe", "Eidetic", "EideticCore", "EideticFetch",
            "EideticStore", "EideticTestSupport", "EideticSupervision", "EideticLifecycle", "eideticd",
        ]
    ),
    tests(
        "EideticTransferEngine",
        in: .transfers,
        [
            "EideticTransfer", "EideticTransferEngine", "eidetic-transferd", "EideticSandboxProbe", "EideticCore",
            "EideticFetch",
            "EideticTestSupport",
        ]
    ),
    tests(
        "EideticCommand",
        in: .programs,
        [
            "EideticFetch", "eidetic", "eidetic-transferd", "Eidetic", "EideticCodecs", "EideticCore", "EideticStore",
            "EideticSupervisorProbe", "EideticTestSupport", "EideticWakeProbe", "EideticSupervision", "eideticd",
        ]
    ),
    tests("EideticTestSupport", in: .development, ["EideticTestSupport"]),
    tests("EideticFuzz", in: .development, fuzzed, exclude: ["Driver"]),
]

/// The targets of this evaluation: all, the fuzzer, or the tests of some modules.
let targets: [Target] =
    if let fuzzer {
        foreign + images + background + transfers
            + development.filter { ["CTestSupport", "EideticTestSupport"].contains($0.name) } + [
                .target(name: "CFuzz", path: "Sources/C/CFuzz", cSettings: instrumentation),
                .executableTarget(
                    name: "EideticFuzz",
                    dependencies: fuzzed + ["CFuzz"],
                    path: "Tests/Development/EideticFuzzTests",
                    exclude: ["ReplayTests.swift"],
                    swiftSettings: swiftSettings,
                    linkerSettings: [.unsafeFlags(["-sanitize=address", "-use-ld=lld", fuzzer, "-lstdc++"])]
                ),
            ]
    } else {
        closure(
            of: testedModules?.map { "\($0)Tests" },
            in: foreign + images + background + transfers + programs + examples + development + suites
        )
    }

/// The targets with these names and all that they depend on; without names, all targets.
func closure(of names: [String]?, in targets: [Target]) -> [Target] {
    guard var waiting = names else { return targets }
    var kept: Set<String> = []
    while let name = waiting.popLast() {
        guard let target = targets.first(where: { $0.name == name }), kept.insert(name).inserted else { continue }
        waiting += target.dependencies.compactMap { dependency in
            switch dependency {
            case .targetItem(let name, _), .byNameItem(let name, _): name
            default: nil
            }
        }
    }
    return targets.filter { kept.contains($0.name) }
}

let libraries = [
    "Eidetic", "EideticFetch", "EideticStore", "EideticRedis", "EideticGTK", "CGTK", "EideticTesting",
    "EideticBackground", "EideticTransfer",
]
let executables = ["eidetic", "eidetic-decode", "eideticd", "eidetic-app", "eidetic-transferd"]
let names = Set(targets.map(\.name))

let package = Package(
    name: "eidetic",
    products: libraries.filter(names.contains).map { .library(name: $0, targets: [$0]) }
        + executables.filter(names.contains).map { .executable(name: $0, targets: [$0]) },
    traits: [
        .default(enabledTraits: ["AVIF", "HEIF"]),
        .trait(name: "GTK", description: "Shows images in GTK 4 widgets, with libgtk-4."),
        .trait(name: "AVIF", description: "Decodes and encodes AVIF, with libavif."),
        .trait(name: "HEIF", description: "Decodes and encodes HEIC, with libheif."),
        .trait(name: "JPEGXL", description: "Decodes JPEG XL, with libjxl."),
        .trait(name: "SVG", description: "Draws SVG, with librsvg."),
        .trait(name: "Redis", description: "Shares images among machines in Redis or Valkey, with hiredis."),
    ],
    targets: targets,
    swiftLanguageModes: [.v6]
)
