//! The recorded values: for each run, by its name, a digest of all outputs.

pub(crate) const PLAIN: &[(&str, u64)] = &[
    ("adaptive, clean", 0x6fe8_a65e_7cb8_bf5d),
    ("adaptive, random 3 %", 0xbd65_9ff7_43ef_586e),
    ("adaptive, random 20 %", 0x7f98_1fe3_3bd6_58b2),
    ("adaptive, bursts", 0x0615_467d_760c_0f49),
    ("adaptive, outages", 0x9725_6948_c344_535f),
    ("adaptive, steps", 0xa700_31b7_49fd_e0e3),
    ("adaptive, narrow", 0x37f4_e2bb_0d64_5728),
    ("adaptive, rough", 0x5635_8e03_1ea9_8a90),
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
    ("clean", 0x7996_fff2_1cb3_08ab),
    ("random 3 %", 0x3bab_4034_244d_bf09),
    ("random 20 %", 0x4a9e_6ab6_4e1e_ea3d),
    ("bursts", 0x71bc_e835_a075_ad3d),
    ("outages", 0x4cd1_173c_9f52_90bf),
    ("steps", 0xed89_b5a3_afef_9d1f),
    ("narrow", 0xdaae_9f41_2712_76ab),
    ("rough", 0xadc3_3e80_309c_ae40),
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
