//! The recorded values: for each run, by its name, a digest of all outputs.

pub(crate) const PLAIN: &[(&str, u64)] = &[
    ("adaptive, clean", 0xdd9b_b112_c32c_ca5f),
    ("adaptive, random 3 %", 0x3fb8_07a9_3e22_3d35),
    ("adaptive, random 20 %", 0x6af0_6af8_4f35_b9e1),
    ("adaptive, bursts", 0x3bbc_4313_1743_588b),
    ("adaptive, outages", 0xaccd_80e2_fb09_86ca),
    ("adaptive, steps", 0x1830_99db_0935_9f3d),
    ("adaptive, narrow", 0x18c7_d801_8ad8_5cc6),
    ("adaptive, rough", 0x4070_6b52_07a3_11e8),
    ("plain, clean", 0xea69_1118_c223_e776),
    ("plain, random 3 %", 0xa248_2097_b02c_f799),
    ("plain, random 20 %", 0x682e_d4be_8af5_041d),
    ("plain, bursts", 0x4cb5_55b3_3909_cbd4),
    ("plain, outages", 0xa44c_6e38_33e1_4aa9),
    ("plain, steps", 0x4a6c_cd85_80fe_0c7d),
    ("plain, narrow", 0xae9a_6898_3cf1_e38d),
    ("plain, rough", 0x670c_a4cd_732e_10f6),
    ("mixed, clean", 0x4c8d_156d_7f95_18ab),
    ("mixed, random 3 %", 0x8cef_9a8b_3318_6193),
    ("mixed, random 20 %", 0xd92d_2956_3dd1_84a0),
    ("mixed, bursts", 0x3e09_37b3_5bf4_57b0),
    ("mixed, outages", 0x3f18_93ed_8aca_4dda),
    ("mixed, steps", 0xf78a_ed15_457b_cbec),
    ("mixed, narrow", 0xa805_012e_1b94_3878),
    ("mixed, rough", 0x312f_a14a_7bfd_6a98),
];

pub(crate) const CODED: &[(&str, u64)] = &[
    ("clean", 0xe0f0_db8e_f3aa_47dd),
    ("random 3 %", 0x6b58_c341_70b7_35cc),
    ("random 20 %", 0xb7c6_b9d3_6b9e_7fac),
    ("bursts", 0x4d30_56fd_6f0a_7cd7),
    ("outages", 0x91ce_3e58_939a_883a),
    ("steps", 0x4493_5a1c_369a_9399),
    ("narrow", 0x3258_3629_1c68_e945),
    ("rough", 0xf0a3_556a_a93e_173f),
];

pub(crate) const CHOICES: &[(&str, u64)] = &[
    ("loss 0", 0x5221_37d9_f03b_42a5),
    ("loss 0.005", 0x8192_363e_7b95_ef03),
    ("loss 0.02", 0x82ba_6a2b_ae9a_10d6),
    ("loss 0.06", 0xe042_0071_25bb_d747),
    ("loss 0.15", 0xc985_daa5_dcfd_5850),
    ("loss 0.4", 0x0005_eccb_04c7_e36c),
    ("loss 1", 0xb6a2_17fa_0d87_5513),
];
