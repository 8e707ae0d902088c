import EideticCore

/// The encoded images that loads hold, or that are being written to disk, by data key.
///
/// A load that starts before the bytes are on disk finds them here, and needs no network. From then on the disk cache
/// responds instead, because it also limits the time for which the bytes are fresh.
final class ActiveImages: Sendable {
    private struct WeakPlan { weak var value: StoragePlan? }

    private let plans = Guarded<[ImageRequest.DataKey: WeakPlan]>([:])

    /// The number of images that are being written to disk.
    var storingCount: Int { plans.withLock { $0.values.count { $0.value?.isActive == true } } }

    /// The image for `key`, unless it is on disk.
    subscript(key: ImageRequest.DataKey) -> EncodedImage? {
        let plan = plans.withLock { $0[key]?.value }
        return plan?.isStored == true ? nil : plan?.image
    }

    /// Inserts an image; every 256th time those that were released are removed.
    func insert(_ plan: StoragePlan, for key: ImageRequest.DataKey) {
        plans.withLock { plans in
            plans[key] = WeakPlan(value: plan)
            if plans.count.isMultiple(of: 256) { plans = plans.filter { $0.value.value != nil } }
        }
    }

    /// Removes an image, unless another one has taken its place.
    func remove(_ image: EncodedImage, for key: ImageRequest.DataKey) {
        guard let plan = image.storage else { return }
        plans.withLock { plans in
            if plans[key]?.value === plan { plans[key] = nil }
        }
    }
}
