import Eidetic
import Foundation

// UIImage(data: data)
let data = Data(base64Encoded: "R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==") ?? Data()
let image = try await ImagePipeline.shared.image(for: ImageRequest(.bytes(data)))
print(image.size)

// image.pngData(), image.jpegData(compressionQuality: 0.8)
let png = try image.encoded(as: .png)
print(try image.encoded(as: .jpeg, quality: 0.8).count)

// UIImage(named: "logo"): an image that is shipped with the program; with a package's resources Bundle.module
if let path = Bundle.main.path(forResource: "logo", ofType: "png") {
    print(try await ImagePipeline.shared.image(for: ImageRequest(.file(path: path))).size)
}

// await image.byPreparingThumbnail(ofSize: size): decoded at once in the size
let thumbnail = ImageRequest(.bytes(png), rendering: .init(size: PixelSize(width: 64, height: 64)))
print(try await ImagePipeline.shared.image(for: thumbnail).size)
