// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "photos",
    dependencies: [.package(path: "../eidetic", traits: [.defaults, "GTK"])],
    targets: [
        .executableTarget(
            name: "photos",
            dependencies: [
                .product(name: "Eidetic", package: "eidetic"),
                .product(name: "EideticGTK", package: "eidetic"),
                .product(name: "CGTK", package: "eidetic"),
            ]
        ),
    ]
)
