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

/// A Boolean value indicating whether programs are linked as they are shipped; `script/bench` sets it.
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
        // The compiler names the two libraries only where all modules are compiled for the static one. The programs of
        // development need a library that is there as a shared one only: that of the tests.
        linkerSettings: isBenchmark && kind == .programs
            ? [.unsafeFlags(["-static-stdlib", "-l_FoundationCollections", "-l_FoundationCShims"])] : []
    )
}

/// The tests in `Tests/<kind>/<name>Tests`, of the module with that name if no other is given.
func tests(
    _ name: String,
    of module: String? = nil,
    in kind: Kind,
    _ further: [Dependency] = [],
    exclude: [String] = [],
    settings: [SwiftSetting] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: [.byName(name: module ?? name)] + further
            + (name == testSupport ? [] : [.byName(name: testSupport)]),
        path: "Tests/\(kind.rawValue)/\(name)Tests",
        exclude: exclude,
        swiftSettings: strict + settings
    )
}

let testSupport = "EideticTestSupport"

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

/// The commit that `--version` shows; script/package sets it.
let commit = Context.environment["EIDETIC_COMMIT"] ?? ""

// C: one target per library. Only its one wrapper may import it. Optional formats load their library when first used.
let foreign: [Target] = [
    c("CLinux"),
    c("CNettle", libraries: [.linkedLibrary("nettle")]),
    c("CCurl", libraries: [.linkedLibrary("curl")]),
    c("CInflate", libraries: [.linkedLibrary("z"), .linkedLibrary("zstd")]),
    c("CNetwork"),
    c("CJPEG", optimised: true, libraries: [.linkedLibrary("jpeg")]),
    c("CPNG", optimised: true, libraries: [.linkedLibrary("png")]),
    c("CPixels", optimised: true),
    c("CBitmap", ["CPixels"], optimised: true),
    c("CCodec", libraries: [.linkedLibrary("dl")]),
    c("CTIFF", ["CCodec", "CPixels"], optimised: true, libraries: [.linkedLibrary("tiff")]),
    c("CAVIF", ["CCodec"], optimised: true, trait: "AVIF"),
    c("CHEIF", ["CCodec"], optimised: true, trait: "HEIF"),
    c("CJXL", ["CCodec"], optimised: true, trait: "JPEGXL"),
    c("CSVG", ["CCodec", "CPixels"], optimised: true, trait: "SVG"),
    c("CChafa", ["CCodec"]),
    c("CImageQuant", ["CCodec"]),
    c("CAllocation"),
    .target(name: "CBuild", path: "Sources/C/CBuild", cSettings: [.define("EIDETIC_COMMIT", to: "\"\(commit)\"")]),
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
// what, which script/lint compares with this.
let images: [Target] = [
    module("EideticCore", in: .images, ["CLinux", "CNettle", "CXXHash"]),
    module(
        "EideticCodecs",
        in: .images,
        [
            "EideticCore", "CJPEG", "CPNG", "CWebP", "CGIF", "CDeflate", "CLCMS", "CPixels", "CBitmap", "CCodec",
            "CImageQuant", "CTIFF", optional("CAVIF", "AVIF"), optional("CHEIF", "HEIF"), optional("CJXL", "JPEGXL"),
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
    module("EideticViews", in: .images, ["Eidetic", "EideticCore", "EideticCodecs", "EideticFetch"]),
    module(
        "EideticGTK",
        in: .images,
        ["EideticViews", "Eidetic", "EideticCore", "EideticFetch", "EideticStore", "CGTK"]
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
    // What of GTK touches applications.
    module(
        "EideticBackgroundGTK",
        in: .background,
        ["EideticBackground", "EideticGTK", "EideticViews", "Eidetic", "CGTK"]
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
    module("EideticCLI", in: .programs, ["EideticCore", "EideticSupervision", "EideticLifecycle", "CBuild"]),
    program(
        "eidetic",
        in: .programs,
        [
            "Eidetic", "EideticCLI", "EideticCore", "EideticHTTP", "EideticCodecs", "EideticStore", "EideticFetch",
            "EideticTransfer", "EideticRedis", "eidetic-app", "CAllocation", "CChafa",
        ]
    ),
    program("eidetic-decode", in: .programs, ["EideticSandbox"]),
    program("eidetic-transferd", in: .programs, ["EideticTransferEngine", "EideticCLI", "EideticCore", "CAllocation"]),
    program(
        "eideticd",
        in: .programs,
        ["EideticSupervisor", "EideticCLI", "EideticCore", "EideticSupervision", "EideticLifecycle"]
    ),
    // Without the libraries of codecs.
    program("eidetic-app", in: .programs, ["EideticCLI"]),
]

let examples: [Target] = [
    example("ShowImage", ["EideticGTK", "CGTK"]),
    example("ImageList", ["EideticGTK", "CGTK"]),
    example(
        "Gallery",
        [
            "EideticGTK", "Eidetic", "EideticBackground", "EideticBackgroundGTK", "EideticCore", "EideticFetch",
            "EideticStore", "EideticTransfer", "CGTK",
        ],
        exclude: ["org.eidetic.Gallery.desktop", "org.eidetic.Gallery.svg"]
    ),
    example("Alarm", ["EideticBackground"], exclude: ["org.eidetic.Alarm.desktop"]),
    example(
        "BackgroundFetch",
        ["Eidetic", "EideticBackground", optional("EideticBackgroundGTK", "GTK"), optional("CGTK", "GTK")],
        exclude: ["org.eidetic.BackgroundFetch.desktop"]
    ),
    // The HTTP server of this example only.
    c("CMicroHTTP", libraries: [.linkedLibrary("microhttpd")]),
    example("ImageService", ["Eidetic", "EideticCodecs", "EideticFetch", "EideticRedis", "CMicroHTTP"]),
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
    module("EideticReplay", in: .development, ["EideticStore"]),
    module("EideticProbeWords", in: .development, ["EideticCore"]),
    program(
        "eidetic-bench",
        in: .development,
        [
            "Eidetic", "EideticBackground", "EideticRedis", "EideticReplay", "EideticSupervisor",
            "EideticTransferEngine", "EideticProbeWords", "EideticTestSupport", "CBareJPEG", "CBareCodecs", "CTunnel",
            "EideticApplicationProbe", "eidetic-probe", "eidetic-decode", "eidetic-transferd", "eideticd",
        ]
    ),
    program("eidetic-conformance", in: .development, ["EideticCodecs"]),
    // The programs that tests and benchmarks start. Those of the store and of the sandbox need few modules, and the
    // launches of the third are measured; so these are apart.
    program(
        "eidetic-probe",
        in: .development,
        [
            "Eidetic", "EideticViews", "EideticBackground", "EideticProbeWords", "EideticRedis", "EideticTestSupport",
            "EideticTransfer", "EideticTransferEngine",
        ]
    ),
    program("EideticApplicationProbe", in: .development, ["EideticBackground", "EideticProbeWords"]),
    program("EideticDecodeProbe", in: .development, ["EideticSandbox", "CTestSupport"]),
    program("EideticDiskWorker", in: .development, ["EideticStore"]),
    program(
        "EideticGTKProbe",
        in: .development,
        ["EideticGTK", "EideticViews", "EideticBackgroundGTK", "EideticTestSupport"]
    ),
]

/// The modules that read the bytes of others, which EideticFuzzTests replay and script/fuzz fuzzes.
let fuzzed: [Dependency] = ["EideticSupervisor", "EideticTransferEngine"]

// Tests may import what their module imports.
let suites: [Target] = [
    tests("EideticCore", in: .images),
    tests("EideticCodecs", in: .images, ["CBareJPEG", "CDeflate"]),
    tests("EideticHTTP", in: .images),
    tests("EideticStore", in: .images, ["EideticReplay", "EideticDiskWorker"]),
    tests("EideticFetch", in: .images),
    tests("EideticSandbox", in: .images, ["EideticDecodeProbe", "eidetic-decode"]),
    tests("Eidetic", in: .images, ["EideticViews", "eidetic-decode", "CDeflate"]),
    tests("EideticRedis", in: .images, ["Eidetic", "eidetic-probe"]),
    tests(
        "EideticGTK",
        in: .images,
        [
            "EideticTransfer", "EideticGTKProbe", "eidetic-probe", "eidetic", "eideticd", "eidetic-transferd",
            "BackgroundFetch", "Gallery", "ImageList",
        ],
        exclude: ["Goldens"],
        // Its helpers are not Sendable: they stay with the test that calls them.
        settings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
    ),
    tests("EideticTesting", in: .images),
    tests("EideticLifecycle", in: .background),
    tests("EideticSupervision", in: .background),
    tests("EideticBackground", in: .background, ["EideticStore", "eidetic-probe", "Alarm"]),
    tests(
        "EideticSupervisor",
        in: .background,
        [
            "EideticProbeWords", "EideticStore", "EideticApplicationProbe", "eidetic-probe", "eidetic", "eideticd",
            "Alarm", "BackgroundFetch",
        ]
    ),
    tests(
        "EideticTransfer",
        in: .transfers,
        ["EideticSupervision", "EideticTransferEngine", "Eidetic", "eidetic-probe", "eidetic-transferd", "eideticd"]
    ),
    tests("EideticTransferEngine", in: .transfers, ["eidetic-probe", "eidetic-transferd"]),
    tests(
        "EideticCommand",
        of: "eidetic",
        in: .programs,
        ["Eidetic", "eidetic-probe", "eidetic-transferd", "eideticd", "ImageService"]
    ),
    tests("EideticTestSupport", in: .development),
    tests("EideticFuzz", of: "Eidetic", in: .development, fuzzed, exclude: ["Driver"]),
]

/// The targets of this evaluation: all, the fuzzer, or the tests of some modules.
let targets: [Target] =
    if let fuzzer {
        foreign + images + background + transfers
            + development.filter { ["CTestSupport", testSupport].contains($0.name) } + [
                .target(name: "CFuzz", path: "Sources/C/CFuzz", cSettings: instrumentation),
                .executableTarget(
                    name: "EideticFuzz",
                    dependencies: fuzzed + ["Eidetic", "CFuzz", .byName(name: testSupport)],
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
    "Eidetic", "EideticViews", "EideticCodecs", "EideticFetch", "EideticStore", "EideticRedis", "EideticGTK", "CGTK",
    "EideticTesting", "EideticBackground", "EideticBackgroundGTK", "EideticTransfer",
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
