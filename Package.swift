// swift-tools-version: 6.2
import PackageDescription

/// One list of settings for every Swift target, so a target cannot drift from the others.
let strict: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

// Pixel kernels are optimised also in debug builds of this package itself: its tests run 500 times faster. A package
// that depends on Eidetic by version must not see unsafe flags, so they need EIDETIC_DEVELOPMENT=1 of the scripts.
let isDevelopment = Context.environment["EIDETIC_DEVELOPMENT"] == "1"

/// The path of libFuzzer without its entry point: the package is then the program of `script/fuzz`, all instrumented.
let fuzzer = Context.environment["EIDETIC_FUZZ"]

/// A Boolean value indicating whether programs are linked as they are shipped; `script/bench` sets it.
let isBenchmark = Context.environment["EIDETIC_BENCHMARK"] == "1"

/// The tests that are built, with what they need and nothing else; `script/test MODULE` names their modules.
let chosenTests = Context.environment["EIDETIC_TESTED_MODULES"]?.split(separator: ",").map { "\($0)Tests" }

/// The commit that `--version` shows; script/package sets it.
let commit = Context.environment["EIDETIC_COMMIT"] ?? ""

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
let swiftSettings = strict + (fuzzer == nil ? [] : [.unsafeFlags(["-sanitize=fuzzer,address", "-enable-testing"])])

typealias Dependency = Target.Dependency
/// The folders of targets, each with the names of its targets and their dependencies.
typealias Folders = KeyValuePairs<String, KeyValuePairs<String, [Dependency]>>

/// C code, linked to `libraries`.
func c(
    _ name: String,
    _ dependencies: [Dependency] = [],
    in folder: String = "Sources/C",
    optimised: Bool = false,
    trait: String? = nil,
    libraries: [String] = [],
    further: [LinkerSetting] = []
) -> Target {
    var settings = fuzzer == nil ? hardening : instrumentation
    if optimised && isDevelopment { settings.append(.unsafeFlags(["-O3"])) }
    if let trait { settings.append(.define("TRAIT_\(trait)", .when(traits: [trait]))) }
    return .target(
        name: name,
        dependencies: dependencies,
        path: "\(folder)/\(name)",
        cSettings: settings,
        linkerSettings: libraries.map { .linkedLibrary($0) } + further
    )
}

/// The module map of a library of Debian in `Sources/C`.
func library(_ name: String, package: String, pkgConfig: String? = nil) -> Target {
    .systemLibrary(name: name, path: "Sources/C/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

func optional(_ name: String, _ trait: String) -> Dependency { .target(name: name, condition: .when(traits: [trait])) }

// C: one target per library. Only its one wrapper may import it. Optional formats load their library when first used.
let foreign: [Target] = [
    c("CLinux"),
    c("CNettle", libraries: ["nettle"]),
    c("CCurl", libraries: ["curl"]),
    c("CInflate", ["CCodec"], libraries: ["z", "zstd"]),
    c("CNetwork"),
    c("CJPEG", ["CPixels"], optimised: true, libraries: ["jpeg"]),
    c("CPNG", optimised: true, libraries: ["png"]),
    c("CPixels", optimised: true),
    c("CBitmap", ["CPixels"], optimised: true),
    c("CCodec", libraries: ["dl"]),
    c("CTIFF", ["CCodec", "CPixels"], optimised: true, libraries: ["tiff"]),
    c("CAVIF", ["CCodec"], optimised: true, trait: "AVIF"),
    c("CHEIF", ["CCodec"], optimised: true, trait: "HEIF"),
    c("CJXL", ["CCodec"], optimised: true, trait: "JPEGXL"),
    c("CSVG", ["CCodec", "CPixels"], optimised: true, trait: "SVG"),
    c("CChafa", ["CCodec"]),
    c("CImageQuant", ["CCodec"]),
    .target(name: "CBuild", path: "Sources/C/CBuild", cSettings: [.define("EIDETIC_COMMIT", to: "\"\(commit)\"")]),
    c("CSystemd", libraries: ["systemd"]),
    c("CSupervisor"),
    c("CGTK", [optional("CGTKLibrary", "GTK")]),
    library("CXXHash", package: "libxxhash-dev"),
    library("CWebP", package: "libwebp-dev"),
    library("CGIF", package: "libgif-dev"),
    library("CDeflate", package: "libdeflate-dev"),
    library("CLCMS", package: "liblcms2-dev"),
    library("CHiredis", package: "libhiredis-dev"),
    library("CGTKLibrary", package: "libgtk-4-dev", pkgConfig: "gtk4"),
    // Not shipped: the HTTP server of an example, and what tests and benchmarks need.
    c("CMicroHTTP", in: "Examples", libraries: ["microhttpd"]),
    c("CTestSupport", in: "Sources/Development/C"),
    c("CTunnel", in: "Sources/Development/C"),
    c("CBareJPEG", in: "Sources/Development/C", libraries: ["jpeg"]),
    c(
        "CBareCodecs",
        in: "Sources/Development/C",
        trait: "JPEGXL",
        libraries: ["png", "webp", "webpdemux", "gif", "tiff", "avif", "heif", "lcms2", "dl"],
        further: [.linkedLibrary("jxl", .when(traits: ["JPEGXL"]))]
    ),
]

// Swift, from the bottom layer to the top one. Arrows point down only; ARCHITECTURE.md has the table of what may import
// what, which script/lint compares with this. What is in Development is not shipped.
let modules: Folders = [
    "Sources/Images": [
        "EideticCore": ["CLinux", "CNettle", "CXXHash"],
        "EideticCodecs": [
            "EideticCore", "CJPEG", "CPNG", "CWebP", "CGIF", "CDeflate", "CLCMS", "CPixels", "CBitmap", "CCodec",
            "CImageQuant", "CTIFF", optional("CAVIF", "AVIF"), optional("CHEIF", "HEIF"), optional("CJXL", "JPEGXL"),
            optional("CSVG", "SVG"),
        ],
        "EideticHTTP": ["EideticCore"],
        "EideticStore": ["EideticCore", "EideticHTTP"],
        "EideticFetch": ["EideticCore", "EideticHTTP", "CCurl", "CInflate", "CNetwork"],
        "EideticSandbox": ["EideticCodecs", "EideticCore", "CLinux"],
        "Eidetic": ["EideticCore", "EideticHTTP", "EideticCodecs", "EideticStore", "EideticFetch", "EideticSandbox"],
        "EideticRedis": ["EideticCore", "EideticStore", optional("CHiredis", "Redis")],
        "EideticViews": ["Eidetic", "EideticCore", "EideticCodecs", "EideticFetch"],
        "EideticGTK": ["EideticViews", "Eidetic", "EideticCore", "EideticFetch", "EideticStore", "CGTK"],
        "EideticTesting": ["Eidetic", "EideticCore", "EideticHTTP", "EideticCodecs", "EideticFetch", "EideticStore"],
    ],
    "Sources/Background": [
        // The state machine of applications, and the times of wakes and notifications: no clock, and no effects.
        "EideticLifecycle": [],
        // What applications, the supervisor and `eidetic app` say to each other.
        "EideticSupervision": ["EideticCore", "EideticLifecycle"],
        "EideticDBus": ["EideticCore", "EideticLifecycle", "CSystemd"],
        "EideticBackground": [
            "EideticCore", "EideticLifecycle", "EideticDBus", "EideticSupervision", "CLinux", "CNetwork",
        ],
        "EideticSupervisor": [
            "EideticCore", "EideticLifecycle", "EideticDBus", "EideticSupervision", "CLinux", "CNetwork", "CSupervisor",
        ],
        "EideticBackgroundGTK": ["EideticBackground", "EideticGTK", "EideticViews", "Eidetic", "CGTK"],
    ],
    "Sources/Transfers": [
        // What applications link: sessions, and the connection to the transfer process.
        "EideticTransfer": ["EideticCore", "EideticHTTP", "EideticFetch", "CLinux"],
        // What the transfer process links: the journal, the schedule and the transfers themselves.
        "EideticTransferEngine": ["EideticTransfer", "EideticCore", "EideticHTTP", "EideticFetch", "CLinux"],
    ],
    "Sources/Programs": [
        "EideticCLI": ["EideticCore", "EideticSupervision", "EideticLifecycle", "CBuild"]
    ],
    "Sources/Development": [
        "EideticTestSupport": ["EideticCore", "EideticSupervision", "CTestSupport"],
        "EideticReplay": ["EideticStore"],
        "EideticProbeWords": ["EideticCore"],
    ],
]

let programs: Folders = [
    "Sources/Programs": [
        "eidetic": [
            "Eidetic", "EideticCLI", "EideticCore", "EideticHTTP", "EideticCodecs", "EideticStore", "EideticFetch",
            "EideticTransfer", "EideticRedis", "eidetic-app", "CChafa",
        ],
        "eidetic-decode": ["EideticSandbox"],
        "eidetic-transferd": ["EideticTransferEngine", "EideticCLI", "EideticCore"],
        "eideticd": ["EideticSupervisor", "EideticCLI", "EideticCore", "EideticSupervision", "EideticLifecycle"],
        "eidetic-app": ["EideticCLI"],
    ],
    "Sources/Development": [
        "eidetic-bench": [
            "Eidetic", "EideticBackground", "EideticRedis", "EideticReplay", "EideticSupervisor",
            "EideticTransferEngine", "EideticProbeWords", "EideticTestSupport", "CBareJPEG", "CBareCodecs",
            "CTunnel", "EideticApplicationProbe", "eidetic-probe", "eidetic-decode", "eidetic-transferd",
            "eideticd",
        ],
        "eidetic-conformance": ["EideticCodecs"],
        // The programs that tests and benchmarks start, apart because few modules suffice, or launches are measured.
        "eidetic-probe": [
            "Eidetic", "EideticViews", "EideticBackground", "EideticProbeWords", "EideticRedis",
            "EideticTestSupport", "EideticTransfer", "EideticTransferEngine",
        ],
        "EideticApplicationProbe": ["EideticBackground", "EideticProbeWords"],
        "EideticDecodeProbe": ["EideticSandbox", "CTestSupport"],
        "EideticDiskWorker": ["EideticStore"],
        "EideticGTKProbe": ["EideticGTK", "EideticViews", "EideticBackgroundGTK", "EideticTestSupport"],
    ],
    "Examples": [
        "ShowImage": ["EideticGTK", "CGTK"],
        "ImageList": ["EideticGTK", "CGTK"],
        "Gallery": [
            "EideticGTK", "Eidetic", "EideticBackground", "EideticBackgroundGTK", "EideticCore", "EideticFetch",
            "EideticStore", "EideticTransfer", "CGTK",
        ],
        "Alarm": ["EideticBackground"],
        "BackgroundFetch": [
            "Eidetic", "EideticBackground", optional("EideticBackgroundGTK", "GTK"), optional("CGTK", "GTK"),
        ],
        "ImageService": ["Eidetic", "EideticCodecs", "EideticFetch", "EideticRedis", "CMicroHTTP"],
    ],
]

/// The modules that read the bytes of others, which EideticFuzzTests replay and script/fuzz fuzzes.
let fuzzed: [Dependency] = ["Eidetic", "EideticSupervisor", "EideticTransferEngine"]

/// The tests of the modules with these names; they may import what their module imports.
let tests: Folders = [
    "Tests/Images": [
        "EideticCore": [],
        "EideticCodecs": ["CBareJPEG", "CDeflate"],
        "EideticHTTP": [],
        "EideticStore": ["EideticReplay", "EideticDiskWorker"],
        "EideticFetch": [],
        "EideticSandbox": ["EideticDecodeProbe", "eidetic-decode"],
        "Eidetic": ["EideticViews", "eidetic-decode", "CDeflate"],
        "EideticRedis": ["Eidetic", "eidetic-probe"],
        "EideticGTK": [
            "EideticTransfer", "EideticGTKProbe", "eidetic-probe", "eidetic", "eideticd", "eidetic-transferd",
            "BackgroundFetch", "Gallery", "ImageList",
        ],
        "EideticTesting": [],
    ],
    "Tests/Background": [
        "EideticLifecycle": [],
        "EideticSupervision": [],
        "EideticBackground": ["EideticStore", "eidetic-probe", "Alarm"],
        "EideticSupervisor": [
            "EideticProbeWords", "EideticStore", "EideticApplicationProbe", "eidetic-probe", "eidetic", "eideticd",
            "Alarm", "BackgroundFetch",
        ],
    ],
    "Tests/Transfers": [
        "EideticTransfer": [
            "EideticSupervision", "EideticTransferEngine", "Eidetic", "eidetic-probe", "eidetic-transferd", "eideticd",
        ],
        "EideticTransferEngine": ["eidetic-probe", "eidetic-transferd"],
    ],
    "Tests/Programs": [
        "EideticCommand": [
            "eidetic", "EideticDecodeProbe", "eidetic-probe", "eidetic-transferd", "eideticd", "ImageService",
        ]
    ],
    "Tests/Development": [
        "EideticTestSupport": [],
        "EideticFuzz": fuzzed,
    ],
]

/// The files of targets that are not compiled.
let excluded = [
    "EideticGTKTests": ["Goldens"], "EideticFuzzTests": ["Driver"],
    "Gallery": ["org.eidetic.Gallery.desktop", "org.eidetic.Gallery.svg"], "Alarm": ["org.eidetic.Alarm.desktop"],
    "BackgroundFetch": ["org.eidetic.BackgroundFetch.desktop"],
]

/// Returns the targets of folders, each made from its name, its path and its dependencies.
func targets(of folders: Folders, make: (String, String, [Dependency]) -> Target) -> [Target] {
    folders.flatMap { folder, table in table.map { make($0, "\(folder)/\($0)", $1) } }
}

let moduleTargets = targets(of: modules) { name, path, dependencies in
    .target(name: name, dependencies: dependencies, path: path, swiftSettings: swiftSettings)
}

let programTargets = targets(of: programs) { name, path, dependencies in
    .executableTarget(
        name: name,
        dependencies: dependencies,
        path: path,
        exclude: excluded[name] ?? [],
        packageAccess: !path.hasPrefix("Examples/"),
        swiftSettings: swiftSettings,
        // The compiler names both libraries only in a static build; a program of development needs that of the tests.
        linkerSettings: isBenchmark && path.hasPrefix("Sources/Programs/")
            ? [.unsafeFlags(["-static-stdlib", "-l_FoundationCollections", "-l_FoundationCShims"])] : []
    )
}

let testTargets = targets(of: tests) { name, path, dependencies in
    let common = Set([name, "EideticTestSupport"]).intersection(moduleTargets.map(\.name)).sorted()
    return .testTarget(
        name: "\(name)Tests",
        dependencies: common.map { .byName(name: $0) } + dependencies,
        path: "\(path)Tests",
        exclude: excluded["\(name)Tests"] ?? [],
        // The helpers for widgets are not Sendable: they stay with the test that calls them.
        swiftSettings: strict
            + (name == "EideticGTK" ? [.enableUpcomingFeature("NonisolatedNonsendingByDefault")] : [])
    )
}

let fuzzTargets: [Target] = [
    c("CFuzz", in: "Sources/Development/C"),
    .executableTarget(
        name: "EideticFuzz",
        dependencies: fuzzed + ["CFuzz", "EideticTestSupport"],
        path: "Tests/Development/EideticFuzzTests",
        exclude: ["ReplayTests.swift"],
        swiftSettings: swiftSettings,
        linkerSettings: [.unsafeFlags(["-sanitize=address", "-use-ld=lld", fuzzer ?? "", "-lstdc++"])]
    ),
]

/// Returns the targets with some names, and all that they depend on.
func closure(of names: [String], in targets: [Target]) -> [Target] {
    var (waiting, kept) = (names, Set<String>())
    while let name = waiting.popLast() {
        guard let target = targets.first(where: { $0.name == name }), kept.insert(name).inserted else { continue }
        for case .targetItem(let name, _) in target.dependencies { waiting.append(name) }
        for case .byNameItem(let name, _) in target.dependencies { waiting.append(name) }
    }
    return targets.filter { kept.contains($0.name) }
}

/// The targets of this evaluation: all, the fuzzer, or the tests of some modules.
let every = foreign + moduleTargets + programTargets + (fuzzer == nil ? testTargets : fuzzTargets)
let chosenTargets = closure(of: (fuzzer == nil ? chosenTests : ["EideticFuzz"]) ?? every.map(\.name), in: every)

let libraries = [
    "Eidetic", "EideticViews", "EideticCodecs", "EideticFetch", "EideticStore", "EideticRedis", "EideticGTK", "CGTK",
    "EideticTesting", "EideticBackground", "EideticBackgroundGTK", "EideticTransfer",
]
let names = Set(chosenTargets.map(\.name))

let package = Package(
    name: "eidetic",
    products: libraries.filter(names.contains).map { .library(name: $0, targets: [$0]) }
        + programs[0].value.map(\.key).filter(names.contains).map { .executable(name: $0, targets: [$0]) },
    traits: [
        .default(enabledTraits: ["AVIF", "HEIF"]),
        .trait(name: "GTK", description: "Shows images in GTK 4 widgets, with libgtk-4."),
        .trait(name: "AVIF", description: "Decodes and encodes AVIF, with libavif."),
        .trait(name: "HEIF", description: "Decodes and encodes HEIC, with libheif."),
        .trait(name: "JPEGXL", description: "Decodes JPEG XL, with libjxl."),
        .trait(name: "SVG", description: "Draws SVG, with librsvg."),
        .trait(name: "Redis", description: "Shares images among machines in Redis or Valkey, with hiredis."),
    ],
    targets: chosenTargets,
    swiftLanguageModes: [.v6]
)
