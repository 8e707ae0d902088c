internal import EideticCore
